import { describeChanges, describeRetry } from '../../../src/cli/view/changes';
import { at, sampleTrace, withStep } from '../../trace/sample-trace';

describe('a run in plain lines', () => {
  test('the first look tells all that has happened', () => {
    expect(describeChanges(null, sampleTrace())).toEqual([
      'solve-1: What is the capital of France?',
      'the Conductor is writing a plan',
      'plan: 3 steps in 2 waves',
      '  step 1 (gpt): Find the capital',
      '  step 2 (sonnet): Check it',
      '  step 3 (gpt, sees 1, 2): Combine',
      'step 1 (gpt) done in 3.0 s: Paris.',
      'step 2 (haiku for sonnet) failed in 2.0 s: worker haiku declined.',
    ]);
  });

  test('a later look tells only what is new', () => {
    const before = sampleTrace();
    const started = withStep(before, 2, { startedAt: at(5) });
    const answered = withStep(started, 2, { output: 'Paris', endedAt: at(6) });
    const after = { ...answered, status: 'completed' as const, degraded: false };
    expect(describeChanges(before, before)).toEqual([]);
    expect(describeChanges(before, started)).toEqual(['step 3 (gpt) started']);
    expect(describeChanges(started, after)).toEqual([
      'step 3 (gpt) done in 1.0 s: Paris',
      'completed · 5 calls, 30 tokens · at least $0.0025',
    ]);
  });

  test('a fallback that takes over is told, even if nobody saw the failure before it', () => {
    const before = withStep(sampleTrace(), 1, {
      worker: 'sonnet',
      fallbackFor: null,
      error: null,
      output: null,
    });
    const after = withStep(before, 1, { worker: 'haiku', fallbackFor: 'sonnet' });
    expect(describeChanges(before, after)).toEqual(['step 2 (haiku for sonnet) started']);
  });

  test('a call that waits for another attempt says why', () => {
    const retry = { attempt: 3, reason: 'worker gpt (openai gpt-6) answered 429.' };
    expect(describeRetry(retry)).toBe(
      'attempt 2 failed, trying again: worker gpt (openai gpt-6) answered 429.',
    );
  });
});
