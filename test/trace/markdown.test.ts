import { renderTraceMarkdown } from '../../src/trace/markdown';
import { sampleFamily, sampleWaiting } from './sample-family';
import { sampleToolCall, sampleTrace, sampleTurns, withStep } from './sample-trace';

/** Beginning of a row; each cell ends in a no-break space, which Temporal's page keeps. */
const rowOf = (...cells: (string | number)[]): string =>
  `| ${cells.map((value) => `${value}\u00a0`).join(' | ')} |`;

describe('a run as markdown', () => {
  test('names the child workflow of each round that is not its own', () => {
    const paragraphs = renderTraceMarkdown(sampleFamily()).split('\n\n');
    expect(paragraphs.join()).not.toContain('at most');
    const running = renderTraceMarkdown(sampleFamily({ status: 'running' })).split('\n\n');
    expect(running).toContain('Plan: at most 12 calls, 40,000 tokens, $0.1200');
    expect(paragraphs.slice(-7)).toEqual([
      'Child workflow `solve-1-review`',
      expect.stringContaining(rowOf(1, 1, 'gpt', 'Task 1', '', 'done: Paris, of course.')),
      '### Round 3 · review · depth 2 · accepted',
      'Child workflow `solve-1-review-review`',
      '_The Conductor accepts the answer._',
      '### Answer',
      'Paris, of course.',
    ]);
    expect(paragraphs.join()).toContain(rowOf(2, 1, 'conductor as `solve-1-r0s2`', 'Task 2'));
  });

  test('names the checkpoint that planned it, if there was one', () => {
    expect(renderTraceMarkdown(sampleFamily())).not.toContain('checkpoint');
    expect(renderTraceMarkdown(sampleFamily({ checkpoint: 'nightly/000040' })).split('\n\n')).toContain(
      'Conductor: checkpoint `nightly/000040`',
    );
  });

  test('says how to approve a plan, and what a limit did', () => {
    expect(renderTraceMarkdown(sampleWaiting())).toContain(
      '**Waits for approval**: `temporal-conductor approve solve-1 [--edit FILE | --reject REASON]`',
    );
    expect(renderTraceMarkdown(sampleFamily({ stoppedBy: 'calls' }))).toContain('Raise limits.calls');
  });

  test('lists the calls of tools below their plan; what a model or a server wrote adds nothing of its own', () => {
    const hostile = sampleToolCall({
      name: 'shelf__order',
      arguments: '{"item":"`*a*`"}',
      output: 'No.\n\n# Approved\n\n```\n![](http://x/y.png)\u001b[2J',
      outcome: 'error',
    });
    const turns = sampleTurns('gpt', [sampleToolCall(), hostile]);
    const [, list = ''] = renderTraceMarkdown(withStep(sampleTrace(), 0, { turns })).split(/\n\n(?=- )/);
    expect(list.split('\n')).toEqual([
      '- step 1, gpt: ` shelf__look_up {"word":"The Danube"} ` → ok in 41 ms: ` The Danube rises at Donaueschingen. `',
      '- step 1, gpt: `` shelf__order {"item":"`*a*`"} `` → error in 41 ms: ```` No. # Approved ``` ![](http://x/y.png) [2J ````',
    ]);
  });
});
