import type { ViewFrame } from '../../../src/cli/kit/view/follow';
import { drawFrame, TextsUnderWay } from '../../../src/cli/kit/view/run-view';
import { PLAIN, widthOf } from '../../../src/trace/lines';
import { sampleFamily, sampleFamilyAtWork, sampleWaiting } from '../../trace/sample-family';
import { at, sampleToolCall, sampleTrace, sampleTurns, withStep } from '../../trace/sample-trace';

const OPTIONS: ViewFrame = { paint: PLAIN, columns: 80, now: Date.parse(at(6)), spinner: '*' };

describe('a frame of the live view', () => {
  test('shows each wave, what its steps do or produced, and the totals', () => {
    const trace = withStep(sampleTrace(), 0, { output: null, endedAt: null });
    expect(drawFrame(trace, [], OPTIONS)).toEqual([
      'What is the capital of France?',
      'wave 1  * 1 gpt                  5.0 s Find the capital',
      '        ✗ 2 haiku for sonnet     2.0 s worker haiku declined.',
      'wave 2  · 3 gpt                        Combine (sees 1, 2)',
      'degraded: step 2: haiku stands in for sonnet',
      'running, degraded · 5 calls, 30 tokens · at least $0.0025 · solve-1',
    ]);
  });

  test('shows the calls of tools that a step waits for', () => {
    const open = sampleToolCall({ output: null, outcome: null, endedAt: null });
    const turns = sampleTurns('gpt', [sampleToolCall(), open]);
    const lines = drawFrame(withStep(sampleTrace(), 0, { output: null, endedAt: null, turns }), [], OPTIONS);
    expect(lines.slice(1, 4)).toEqual([
      'wave 1  * 1 gpt                  5.0 s Find the capital',
      '          calls shelf__look_up {"word":"The Danube"}',
      '        ✗ 2 haiku for sonnet     2.0 s worker haiku declined.',
    ]);
  });

  test('shows that the plan is being written', () => {
    const [round] = sampleTrace().rounds;
    const rounds = round === undefined ? [] : [{ ...round, plan: null, steps: [] }];
    expect(drawFrame(sampleTrace({ rounds }), [], OPTIONS)[1]).toBe(
      'plan    * the Conductor is writing a plan',
    );
  });

  test('shows what a child does below its step, while it is at work', () => {
    expect(drawFrame(sampleFamilyAtWork(), [], OPTIONS)).toEqual([
      'What is the capital of France?',
      'the plan comes to at most 12 calls, 40,000 tokens, $0.1200',
      'wave 1  ✓ 1 gpt           3.0 s Paris.',
      '        * 2 conductor     5.0 s Task 2',
      '    wave 1  ✓ 1 gpt     3.0 s Certainly.',
      '    wave 2  * 2 gpt     5.0 s Task 2',
      'running · 8 calls, 120 tokens · $0.0080 · solve-1',
    ]);
    expect(drawFrame(sampleFamily(), [], OPTIONS)).toEqual([
      'What is the capital of France?',
      'wave 1  ✓ 1 gpt           3.0 s Paris.',
      '        ✓ 2 conductor     3.0 s Yes.',
      'round 2: review',
      'wave 1  ✓ 1 gpt     3.0 s Paris, of course.',
      'round 3: review',
      'plan    ✓ the Conductor: accepts the answer',
      'completed · 8 calls, 120 tokens · $0.0080 · solve-1',
    ]);
  });

  test('shows how to approve a waiting plan', () => {
    expect(drawFrame(sampleWaiting(), [], { ...OPTIONS, columns: 100 })).toContain(
      'waits for approval of its plan: temporal-conductor approve solve-1 [--edit FILE | --reject REASON]',
    );
  });

  test('shows why a call waits for another attempt', () => {
    const retries = [{ attempt: 2, reason: 'worker gpt answered 429.' }];
    expect(drawFrame(sampleTrace(), retries, OPTIONS)).toContain(
      '↻ attempt 1 failed, trying again: worker gpt answered 429.',
    );
  });

  test.each([60, 80, 120])('in %i columns, no id, figure or reason is cut', (columns) => {
    const error = {
      type: 'Provider.BadRequest',
      message: `${'long '.repeat(40)}reason: raise limits.calls to 150`,
    };
    const worker = `worker-${'w'.repeat(57)}`;
    const id = `solve-${'words-of-the-question-'.repeat(3)}7kq2m9xw`;
    const estimate = { calls: 128, tokens: 1_234_567, nanoUsd: 12_345_600_000, ownSteps: 2 };
    const waiting = withStep(sampleTrace({ id, estimate }), 1, { worker, fallbackFor: null, error });
    const lines = drawFrame(waiting, [{ attempt: 2, reason: error.message }], { ...OPTIONS, columns });
    expect(lines.map(widthOf).filter((width) => width > columns)).toEqual([]);
    const shown = lines
      .map((line) => line.trim())
      .join(' ')
      .replace(/\s+/g, ' ');
    for (const fact of ['128 calls', '1,234,567 tokens', '$12.35', 'its own steps', worker, '2.0 s']) {
      expect(shown.replaceAll(' ', '')).toContain(fact.replaceAll(' ', ''));
    }
    expect(shown.replaceAll(' ', '')).toContain(id);
    expect(shown.split('raise limits.calls to 150')).toHaveLength(3);
  });

  test.each([30, 50, 200])('no line is wider than a terminal of %i columns', (columns) => {
    const question = 'Why? '.repeat(100);
    const retries = [{ attempt: 2, reason: question }];
    const trace = withStep(sampleTrace({ question }), 0, {
      output: '日本語'.repeat(100),
      worker: 'w'.repeat(60),
    });
    for (const line of drawFrame(trace, retries, { ...OPTIONS, columns })) {
      expect(widthOf(line)).toBeLessThanOrEqual(columns);
    }
  });

  describe('of a step that is writing', () => {
    const place = { childId: null, round: 0, step: 0, attempt: 1, cursor: '' };
    const textsOf = (...deltas: readonly string[]): TextsUnderWay => {
      const texts = new TextsUnderWay();
      for (const delta of deltas) texts.take({ kind: 'text', ...place, offset: 0, delta });
      return texts;
    };
    const writing = withStep(sampleTrace(), 0, { output: null, endedAt: null });
    const draw = (texts: TextsUnderWay, options = OPTIONS): string[] =>
      drawFrame(writing, [], { ...options, texts });

    test('shows its last two lines below it, until it has ended', () => {
      const texts = textsOf(
        'Paris has been the capital of France since the tenth century, ',
        'with breaks. ',
        'It',
      );
      expect(draw(texts, { ...OPTIONS, columns: 60 }).slice(1, 4)).toEqual([
        'wave 1  * 1 gpt                  5.0 s Find the capital',
        '          Paris has been the capital of France since the',
        '          tenth century, with breaks. It',
      ]);
      expect(drawFrame(sampleTrace(), [], { ...OPTIONS, texts })).toEqual(
        drawFrame(sampleTrace(), [], OPTIONS),
      );
      texts.take({ kind: 'restarted', ...place, attempt: 2 });
      expect(draw(texts)).toEqual(draw(textsOf()));
      texts.take({ kind: 'text', ...place, attempt: 2, offset: 0, delta: 'Anew.' });
      expect(draw(texts)[2]).toBe('          Anew.');
      texts.take({ kind: 'stepEnded', ...place, worker: 'gpt', error: null });
      expect(draw(texts)).toEqual(draw(textsOf()));
    });

    test.each([60, 80])('fits %i columns and cannot control the terminal, whatever it writes', (columns) => {
      for (const unit of ['word ', '日本語', '👩‍👩‍👧', 'x', '\x1b[2J\r\n\u202e']) {
        const options = { ...OPTIONS, columns };
        const lines = draw(textsOf(...Array<string>(500).fill(unit), 'end'), options);
        expect(lines).toHaveLength(draw(textsOf(), options).length + 2);
        expect(lines.map(widthOf).filter((width) => width > columns)).toEqual([]);
        expect(lines[3]).toMatch(/end$/);
        // eslint-disable-next-line no-control-regex -- that is what is looked for
        expect(lines.join('')).not.toMatch(/[\0-\x1f\u202e]/);
      }
    });

    test('keeps its line breaks while the text grows', () => {
      const grown = Array.from({ length: 300 }, (_, count) =>
        draw(textsOf('word '.repeat(200), ...Array<string>(count).fill('more '))).slice(2, 4),
      );
      const moved = grown.filter(([first], index) => {
        const [before, growing] = grown[index - 1] ?? [];
        return index > 0 && first !== before && first !== growing;
      });
      expect(moved.length).toBeLessThanOrEqual(5);
    });
  });
});
