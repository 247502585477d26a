import fc from 'fast-check';
import type { Verdict } from '../../src/grading';
import type { GroupRecord, Rollout } from '../../src/training/definitions';
import {
  learnableParts,
  materialSpread,
  outcomesOnly,
  rewardOf,
  rewardOfRoot,
  scoreQuestions,
} from '../../src/training/rewards';
import { aGroup, aRollout } from '../cli/train/show/a-group';

const paper = { unparseable: 0, parseable: 0.5, correct: 1, costWeight: 0, lengthWeight: 0 };
const planOf = (steps: number) => ({
  steps: Array.from({ length: steps }, () => ({ worker: 'w', subtask: '', sees: [] })),
});
const rollout = (verdict: Verdict, size: { steps?: number; nanoUsd?: number | null } = {}) => {
  const { steps = 1, nanoUsd = 0 } = size;
  return { verdict, plan: verdict === 'unparseable' ? null : planOf(steps), nanoUsd };
};

test.each([
  ['unparseable', 0],
  ['wrong', 0.5],
  ['correct', 1],
  ['ungraded', null],
] as const)('in the paper, %s earns %j', (verdict, expected) => {
  expect(rewardOf(rollout(verdict, { steps: 3, nanoUsd: null }), paper)).toBe(expected);
});

test('a right answer earns less the more it costs and the longer its plan is', () => {
  const settings = { ...paper, costWeight: 2, lengthWeight: 0.05 };
  const size = { steps: 3, nanoUsd: 100_000_000 };
  expect(rewardOf(rollout('correct', size), settings)).toBeCloseTo(1 - 0.2 - 0.1, 12);
  expect(rewardOf(rollout('correct'), settings)).toBe(1);
  expect(rewardOf(rollout('wrong', size), settings)).toBe(0.5);
});

test('a right answer always earns at least as much as a wrong one', () => {
  const sizes = fc.record({
    steps: fc.integer({ min: 1, max: 9 }),
    nanoUsd: fc.integer({ min: 0, max: 1e12 }),
  });
  const weight = fc.float({ min: 0, max: 100, noNaN: true });
  const weights = fc.record({ costWeight: weight, lengthWeight: weight });
  fc.assert(
    fc.property(sizes, weights, (size, weight) => {
      const right = rewardOf(rollout('correct', size), { ...paper, ...weight });
      expect(right).toBeGreaterThanOrEqual(0.5);
      expect(right).toBeLessThanOrEqual(1);
    }),
  );
});

test('a right answer has no reward if its cost counts but is unknown', () => {
  expect(rewardOf(rollout('correct', { nanoUsd: null }), { ...paper, costWeight: 1 })).toBeNull();
  expect(rewardOf(rollout('correct', { nanoUsd: null }), { ...paper, lengthWeight: 1 })).toBe(1);
});

test.each([
  [0.5, 1, 0.625],
  [1, 0.5, 0.875],
  [1, null, null],
  [null, 1, null],
])("a share of the second round's reward goes to the first: %j and %j give %j", (first, second, both) => {
  expect(rewardOfRoot(first, second, 0.25)).toBe(both);
});

function scored(index: number, change: Partial<Rollout>): Rollout {
  return aRollout(index, { reward: 0.5, nanoUsd: 100, ...change });
}

function group(question: string, rollouts: readonly Rollout[], round = 0): GroupRecord {
  return aGroup(rollouts, { question, round, purpose: 'evaluation' });
}

test('a question scores the mean reward and cost of its rollouts, ignoring those without a verdict', () => {
  const rollouts = [
    scored(0, { reward: 1, nanoUsd: 300 }),
    scored(1, { reward: 0.5 }),
    scored(2, { reward: null, nanoUsd: 200 }),
  ];
  const unknown = [scored(0, { reward: null, nanoUsd: null }), scored(1, { reward: null })];
  expect(scoreQuestions([group('q1', rollouts), group('q2', unknown)])).toEqual([
    { question: 'q1', reward: 0.75, nanoUsd: 200 },
    { question: 'q2', reward: null, nanoUsd: null },
  ]);
});

test('a reviewed answer counts as the review left it, at the price of both rounds', () => {
  const first = group('q1', [scored(0, { reward: 0.5 }), scored(1, { reward: 0 })]);
  const second = group('q1', [scored(0, { root: 0, reward: 1, nanoUsd: 50 })], 1);
  expect(scoreQuestions([second, first])).toEqual([{ question: 'q1', reward: 0.5, nanoUsd: 125 }]);
});

test('a question asked of several teams scores their mean, or nothing if one could not be graded', () => {
  const team = (draw: number, reward: number | null, nanoUsd: number): GroupRecord => {
    return { ...group('q1', [scored(0, { reward, nanoUsd })]), draw };
  };
  const mean = { question: 'q1', reward: 0.75, nanoUsd: 200 };
  expect(scoreQuestions([team(0, 1, 100), team(9, 0.5, 300)])).toEqual([mean]);
  expect(scoreQuestions([team(0, 1, 100), team(9, null, 300)])).toMatchObject([{ reward: null }]);
});

describe('can be learned from', () => {
  const group = (...rewards: (number | null)[]) => rewards.map((reward) => ({ reward }));

  test.each([
    ['a group with a spread', group(0, 0.5, 1), 1],
    ['a group with a spread among what could be graded', group(0.5, null, 1), 1],
    ['no group whose rewards are all equal', group(0.5, 0.5), 0],
    ['no reward alone', group(null, null, 1), 0],
    ['nothing of none', group(), 0],
  ])('%s', (_, rewards, parts) => {
    expect(learnableParts(rewards, { keepFlat: false })).toHaveLength(parts);
  });

  test.each([
    ['a group of equal rewards', group(0.5, 0.5), 1],
    ['a single reward', group(null, null, 1), 1],
    ['no group without any reward', group(null, null), 0],
  ])('with keepFlat: %s', (_, rewards, parts) => {
    expect(learnableParts(rewards, { keepFlat: true })).toHaveLength(parts);
  });

  test('right answers alone only if they differ in cost or length by a tenth of what being right is worth', () => {
    const settings = { unparseable: 0, parseable: 0.5, correct: 1, costWeight: 2, lengthWeight: 0 };
    const at = (verdict: Verdict, nanoUsd: number | null) => ({
      reward: rewardOf({ verdict, plan: null, nanoUsd }, settings),
      outcome: rewardOf({ verdict, plan: null, nanoUsd }, outcomesOnly(settings) ?? settings),
    });
    const [cheap, dear, wrong] = [at('correct', 1e6), at('correct', 3e6), at('wrong', 1e6)];
    expect([cheap.reward, dear.reward]).toEqual([0.998, 0.994]);
    const learning = { keepFlat: false, material: materialSpread(settings) };
    expect(learnableParts([cheap, dear], learning)).toEqual([]);
    expect(learnableParts([cheap, at('correct', 27e6)], learning)).toHaveLength(1);
    expect(learnableParts([cheap, dear, wrong], learning)).toHaveLength(1);
    expect(learnableParts([wrong, at('correct', null)], learning)).toEqual([]);
  });

  test('a part with its own baseline, if it has a spread itself', () => {
    const right = [
      { reward: 1, baseline: 'correct' },
      { reward: 1, baseline: 'correct' },
    ];
    const wrong = [
      { reward: 0.5, baseline: 'wrong' },
      { reward: 1, baseline: 'wrong' },
    ];
    expect(learnableParts([...right, ...wrong], { keepFlat: false })).toEqual([wrong]);
    expect(learnableParts([...right, ...wrong.slice(0, 1)], { keepFlat: false })).toEqual([]);
  });
});
