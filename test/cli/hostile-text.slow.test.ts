import fc from 'fast-check';
import { harmless, type Screen, toJson } from '../../src/cli/kit/terminal';
import { openView } from '../../src/cli/kit/view/follow';
import { lookOfRun, TextsUnderWay } from '../../src/cli/kit/view/run-view';
import { renderTraceMarkdown } from '../../src/trace/markdown';
import { renderTree } from '../../src/trace/tree';
import { sampleToolCall, sampleTrace, sampleTurns, withStep } from '../trace/sample-trace';
import type { Ended } from './command';
import { planOf, useStage } from './stage';

/** Characters that steer a terminal: controls except line ends and tabs, and changes of the writing direction. */
// eslint-disable-next-line no-control-regex -- that is what is looked for
const STEERING = /[\0-\b\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)/;

/** Sets the title, clears the screen (in two ways), paints, reports the cursor, overwrites the line, turns the text. */
const HOSTILE = '\x1b]0;owned\x07\x1b[2J\x9b2J\x1b[31m\x1b[6n\x9d52;c;YQ\x9c\rpaid\b\x7f\u202e';

const SEQUENCES = ['\x1b[2J', '\x1b]8;;http://x\x07', '\x9b31m', '\x9c', '\r', '\b', '\x7f', '\u202e', '\n'];
const piece = fc.oneof(fc.constantFrom(...SEQUENCES), fc.string({ unit: 'binary', maxLength: 20 }));
const hostile = fc.array(piece, { maxLength: 20 }).map((parts) => parts.join(''));

describe('whatever a model or a server writes', () => {
  test('cannot control a terminal, and keeps all its readable text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = harmless(text);
        expect(shown).not.toMatch(STEERING);
        expect(harmless(shown)).toBe(shown);
        expect(shown.replaceAll('\r', '')).toBe(
          text.replace(new RegExp(STEERING, 'g'), '').replaceAll('\r', ''),
        );
      }),
    );
  });

  test('keeps its meaning as JSON after it was made harmless', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = toJson({ [text]: [text] });
        expect(json).not.toMatch(STEERING);
        expect(JSON.parse(json)).toEqual({ [text]: [text] });
      }),
    );
  });

  test('reaches a dumb terminal and a log as plain lines', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const written: string[] = [];
        const screen = { isTTY: false, write: (line: string) => written.push(line) } as unknown as Screen;
        const view = openView(screen, lookOfRun(false));
        const retries = [{ attempt: 2, reason: text }];
        view.show({ trace: hostileTrace(text), retries, texts: new TextsUnderWay() });
        view.close();
        expect(written.join('')).not.toMatch(STEERING);
        // Every line is one of ours: no text can forge another event.
        for (const line of written) expect(line.indexOf('\n')).toBe(line.length - 1);
      }),
    );
  });

  test('puts no control sequence into a tree, nor into Markdown that was made harmless', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(renderTree(hostileTrace(text))).not.toMatch(STEERING);
        expect(harmless(renderTraceMarkdown(hostileTrace(text)))).not.toMatch(STEERING);
      }),
    );
  });
});

describe('at a terminal', () => {
  const stage = useStage(
    {
      boss: { answer: planOf(`Find ${HOSTILE} it`) },
      babbler: { answer: `no plan ${HOSTILE}` },
      alpha: { answer: `Paris${HOSTILE}!` },
    },
    { server: 'shared' },
  );

  /** Runs a command at a terminal, and checks that nothing in its output steers the terminal. */
  async function see(...args: readonly string[]): Promise<Ended> {
    const ended = await stage.start(args, { terminal: true, env: { TERM: 'dumb' } }).ended;
    expect(ended.stdout).not.toMatch(STEERING);
    return ended;
  }

  test('no command shows a control sequence of foreign text', async () => {
    const pool = stage.pool();
    const babbler = { ...pool.conductor, model: 'babbler' } as typeof pool.conductor;
    await stage.folder.write('babbler.yaml', { ...pool, conductor: babbler });
    const solved = await see('solve', `Where is ${HOSTILE} Paris?`);
    expect(solved.stdout).toMatch(/Paris.*!\r\n/);
    const [id = ''] = /solve-[\w-]+/.exec(solved.stdout) ?? [];
    const babbled = await see('solve', 'Where?', '--config', 'babbler.yaml');
    expect(babbled.stdout).toContain('Paris');
    const [degraded = ''] = /solve-[\w-]+/.exec(babbled.stdout) ?? [];
    for (const run of [id, degraded]) {
      for (const format of ['tree', 'json', 'mermaid', 'markdown'])
        await see('trace', run, '--format', format);
    }
    const json = await see('watch', id, '--json');
    const { answer } = JSON.parse(/^\{[^]*^\}/m.exec(json.stdout)?.[0] ?? '') as { answer: string };
    expect(answer).toBe(`Paris${HOSTILE}!`);
    await see('cost', '--by', 'workflow');
    await see('cost', '--json');
    await see('trace', `solve-${HOSTILE}`.replaceAll('\0', ''));
    await see(HOSTILE);
    await see('cost', '--by', HOSTILE);
  }, 120_000);
});

function hostileTrace(text: string): ReturnType<typeof sampleTrace> {
  const error = { type: 'Provider.BadRequest', message: text };
  const trace = sampleTrace({ question: text, answer: text, error, status: 'failed' });
  const call = sampleToolCall({ name: text, arguments: text, output: text });
  const turns = sampleTurns('gpt', [call, { ...call, outcome: 'error' }]);
  return withStep(withStep(trace, 0, { output: text, turns }), 1, { error });
}
