import { PLAIN } from '../../src/trace/paint';
import { widthOf } from '../../src/trace/one-line';
import { renderTree } from '../../src/trace/tree';
import { sampleTrace } from './sample-trace';

describe('the tree of a run', () => {
  test('tells who did what in which wave, seeing what, for how much, and what came of it', () => {
    expect(renderTree(sampleTrace()).split('\n')).toEqual([
      'solve-1  running · degraded · 5 calls, 30 tokens · at least $0.0025',
      '│  What is the capital of France?',
      '└─ Round 1',
      '   ├─ Conductor  boss · 3 steps · 1 call, 15 tokens · $0.0010',
      '   ├─ Wave 1',
      '   │  ├─ ✓ 1 gpt  gpt-6 · 3.0 s · 1 call, 15 tokens · $0.0015',
      '   │  │     subtask Find the capital',
      '   │  │     output Paris.',
      '   │  └─ ✗ 2 haiku for sonnet  gpt-6 · 2.0 s · 3 calls, 0 tokens · at least $0.00',
      '   │        subtask Check it',
      '   │        attempt 1-2 Provider.Unavailable worker haiku answered 529.',
      '   │        error worker haiku declined.',
      '   └─ Wave 2',
      '      └─ · 3 gpt  sees 1, 2',
      '            subtask Combine',
    ]);
  });

  test('ends with the answer', () => {
    const tree = renderTree(sampleTrace({ status: 'completed', answer: 'Paris,\nof course.' }));
    expect(tree).toMatch(/└─ Answer\n {6}Paris, of course\.$/);
  });

  test('ends with the error where there is no answer, and names the limit that stopped the run', () => {
    const error = { type: 'Solve.NoAnswer', message: 'no step gave an answer' };
    const tree = renderTree(sampleTrace({ status: 'failed', stoppedBy: 'wallClock', error }));
    expect(tree).toContain('failed · degraded · stopped by wallClock');
    expect(tree).toMatch(/└─ Error Solve\.NoAnswer\n {6}no step gave an answer$/);
  });

  test('does not grow wider than its terminal', () => {
    const question = 'Why? '.repeat(100);
    const tree = renderTree(sampleTrace({ question, answer: question }), { columns: 50 });
    for (const line of tree.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(50);
  });

  test('is painted by meaning', () => {
    const paint = { ...PLAIN, good: (text: string) => `<good>${text}</good>` };
    expect(renderTree(sampleTrace(), { paint })).toContain('<good>✓</good> 1 gpt');
  });
});
