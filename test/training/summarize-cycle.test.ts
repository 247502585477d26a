import { cycleMetricsSchema, type GroupRecord, type Rollout } from '../../src/training/records';
import { madeUpCycles } from './cli/plot/made-up-cycles';
import { aGroup, aRollout } from './cli/show/a-group';
import { summarizeCycle } from '../../src/training/summarize-cycle';

const step = (worker: string, ...sees: number[]) => ({ worker, subtask: '', sees });

const right = aRollout(0, {
  plan: { steps: [step('a'), step('b', 0)] },
  usage: { calls: 2, inputTokens: 100, outputTokens: 20 },
  nanoUsd: 3_000_000,
});
const wrong: Rollout = {
  ...right,
  plan: { steps: [step('a')] },
  verdict: 'wrong',
  reward: 0.5,
  nanoUsd: 1_000_000,
};
const unreadable: Rollout = {
  ...right,
  plan: null,
  tokens: 10,
  verdict: 'unparseable',
  reward: 0,
  usage: { calls: 0, inputTokens: 0, outputTokens: 0 },
  nanoUsd: 0,
};
const lost: Rollout = { ...wrong, verdict: 'ungraded', reward: null };

const group = (draw: number, rollouts: readonly Rollout[], round = 0): GroupRecord =>
  aGroup(rollouts, { draw, round, workers: ['a', 'b'] });

test('a cycle in figures', () => {
  const summary = summarizeCycle([group(0, [right, wrong]), group(1, [unreadable, lost])]);
  expect(summary).toEqual({
    rewardMean: 0.5,
    rewardSpread: expect.closeTo(Math.sqrt(0.5 / 3), 12) as number,
    formatRate: 0.75,
    verdicts: { correct: 1, wrong: 1, unparseable: 1, ungraded: 1 },
    draws: 2,
    planLength: expect.closeTo(4 / 3, 12) as number,
    workerShares: { a: 0.75, b: 0.25 },
    topologyShares: {
      chain: expect.closeTo(1 / 3, 12) as number,
      single: expect.closeTo(2 / 3, 12) as number,
    },
    topics: {
      '': { plans: 3, shapes: { '[[],[0]]': 1, '[[]]': 2 }, graded: 3, right: 1 },
    },
    failureShares: { format: 0.5, unsolved: 0.5 },
    workerTokens: 90,
    planTokens: 32.5,
    usd: expect.closeTo(0.00125, 12) as number,
  });
});

test('two rounds of one draw are one draw, and an accepted answer has no shape', () => {
  const accepted: Rollout = { ...right, plan: { steps: [] } };
  const summary = summarizeCycle([group(0, [right]), group(0, [accepted], 1)]);
  expect(summary).toMatchObject({ draws: 1, planLength: 1, topologyShares: { chain: 1 }, formatRate: 1 });
});

test('first plans are counted topic by topic', () => {
  const law = { ...group(0, [right, right]), topic: 'law' };
  const { topics } = summarizeCycle([
    law,
    { ...law, draw: 1, rollouts: [wrong] },
    { ...law, round: 1 },
    group(2, [wrong]),
  ]);
  expect(topics).toEqual({
    law: { plans: 3, shapes: { '[[],[0]]': 2, '[[]]': 1 }, graded: 3, right: 2 },
    '': { plans: 1, shapes: { '[[]]': 1 }, graded: 1, right: 0 },
  });
});

test('a review that spoilt a right answer, and one that left a wrong one, are told apart', () => {
  const reviews = [
    { ...wrong, root: 0 },
    { ...wrong, index: 1, root: 1 },
  ];
  const first = group(0, [right, { ...wrong, index: 1, root: 1, verdict: 'correct' }]);
  expect(summarizeCycle([first, group(0, reviews, 1)]).failureShares).toEqual({ spoilt: 1 });
  const byAnother = { ...wrong, plan: { steps: [step('b')] } };
  const vain = [group(0, [wrong]), group(1, [right]), group(0, [byAnother], 1)];
  expect(summarizeCycle(vain).failureShares).toEqual({ unsolved: 0.5, 'vain review': 0.5 });
});

test('one unknown cost makes the mean unknown', () => {
  expect(summarizeCycle([group(0, [right, { ...wrong, nanoUsd: null }])]).usd).toBeNull();
});

test('a cycle without groups is all zeros, and no division by them', () => {
  const figures = Object.values(summarizeCycle([])).flatMap((figure): unknown[] =>
    typeof figure === 'number' || figure === null ? [figure] : Object.values(figure),
  );
  expect(new Set(figures)).toEqual(new Set([0]));
});

test('a cycle that taught nothing, and so made no weights, can be read back', () => {
  const [line] = madeUpCycles(1, { weightsSha256: null, update: null });
  expect(cycleMetricsSchema.parse(JSON.parse(JSON.stringify(line)))).toEqual(line);
});
