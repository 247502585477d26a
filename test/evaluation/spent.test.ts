import { loggedFactsOf, spentOn, toolCallsIn, unitOf } from '../../src/evaluation/spent';
import type { Call } from '../../src';
import { sampleCall, sampleToolCall, sampleTrace, sampleTurns, withStep } from '../trace/sample-trace';

const call = (tokens: number | null, nanoUsd: number | null): Call => {
  const usage = { inputTokens: 0, outputTokens: tokens ?? 0, cachedInputTokens: 0, reasoningTokens: 0 };
  return sampleCall({ usage: tokens === null ? null : usage, nanoUsd });
};

test('a lost call does not change the cost, and an unknown price makes the sum unknown', () => {
  const answered = call(100, 1_000);
  expect(spentOn([answered, call(null, null)])).toEqual(spentOn([answered]));
  expect(spentOn([answered, call(50, null)])).toMatchObject({ calls: 2, outputTokens: 150, nanoUsd: null });
});

test('equal cost is measured in money if any was spent, else in tokens', () => {
  const paid = spentOn([call(100, 1_000)]);
  expect(unitOf(paid)(paid)).toBe(1_000);
  const free = spentOn([call(100, 0)]);
  expect(unitOf(free)(free)).toBe(100);
});

test('facts name the checkpoint that wrote plans, and none for a prompted Conductor', () => {
  const traces = [sampleTrace(), sampleTrace({ checkpoint: 'nightly/000001' })];
  expect(loggedFactsOf(traces)).toMatchObject({ checkpoint: 'nightly/000001' });
  expect(loggedFactsOf([sampleTrace()])).not.toHaveProperty('checkpoint');
});

test('a record holds the calls of tools of all steps, in order', () => {
  const [first, second] = ['look_up', 'order'].map((name) => sampleToolCall({ name }));
  if (first === undefined || second === undefined) throw new Error('two calls were made');
  const turns = sampleTurns('gpt', [first], [second]);
  expect(toolCallsIn(withStep(sampleTrace(), 0, { turns }))).toMatchObject([
    { step: 0, worker: 'gpt', name: 'look_up', outcome: first.outcome },
    { step: 0, worker: 'gpt', name: 'order', arguments: second.arguments },
  ]);
  expect(toolCallsIn(sampleTrace())).toEqual([]);
});
