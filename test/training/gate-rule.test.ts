import { array, assert, double, integer, property, record } from 'fast-check';
import { FEWEST_VALUES } from '../../src/statistics/statistics';
import { CANARY_QUESTIONS, canaryQuestions } from '../../src/training/draw';
import {
  costOfGate,
  decideCanary,
  decideGate,
  describeSmallSet,
  type GateRule,
} from '../../src/training/gate-rule';
import type { QuestionScore, ScoredPolicy } from '../../src/training/rewards';

const CANDIDATE = { trainRun: 'nightly', name: '000020' };
const BASELINE = { trainRun: 'nightly', name: '000010' };

function scored(policy: ScoredPolicy['policy'], scores: readonly Partial<QuestionScore>[]): ScoredPolicy {
  return {
    policy,
    scores: scores.map((score, place) => ({ question: `q${place}`, reward: 0, nanoUsd: 1000, ...score })),
  };
}

function decide(
  candidate: readonly Partial<QuestionScore>[],
  baseline: readonly Partial<QuestionScore>[],
  rule: Partial<GateRule> = {},
): ReturnType<typeof decideGate> {
  const usual = { maxCostRatio: null, margin: 0.02, judgement: 1 };
  return decideGate(scored(CANDIDATE, candidate), scored(BASELINE, baseline), { ...usual, ...rule });
}

const rewards = (...values: readonly number[]): { reward: number }[] => values.map((reward) => ({ reward }));

/** Returns six questions with this reward and cost. */
const at = (reward: number, nanoUsd: number | null): Partial<QuestionScore>[] =>
  Array.from({ length: 6 }, () => ({ reward, nanoUsd }));

test('promotes a gain beyond chance at no more cost, and prints every figure', () => {
  const decision = decide(rewards(1, 1, 0.5, 1, 1, 0.5), rewards(0.5, 0.5, 0.5, 0.5, 0.5, 0));
  // Gains of 0.5 five times and 0 once: their mean is 5/12 and its standard error 1/12; t(0.975, 5) is 2.571, t(0.8, 5) is 0.920.
  expect(decision).toMatchObject({ promoted: true, pairs: 6, costRatio: 1 });
  expect(decision.gain).toBeCloseTo(5 / 12, 12);
  expect(decision.lowerBound).toBeCloseTo(5 / 12 - 2.571 / 12, 3);
  expect(decision.sentence).toBe(
    'nightly/000020 beats nightly/000010 (mean reward 0.833 against 0.417 on 6 held-out questions, ' +
      'decision 1 on this set, gain +0.417, more than +0.202 with 97.5 % confidence, smallest detectable gain 0.291, ' +
      '1.000 times its cost)',
  );
});

test.each([
  ['a gain that may be chance', rewards(1, 0, 1, 0, 1, 0.5), rewards(0, 1, 0.5, 0, 1, 0), 'may be chance'],
  ['no gain at all', rewards(1, 1, 1, 1, 1, 1), rewards(1, 1, 1, 1, 1, 1), 'may be chance'],
  ['too few questions', rewards(1, 1, 1, 1), rewards(0, 0, 0, 0), '4 held-out questions'],
  ['no questions', [], [], '0 held-out questions'],
  ['more cost than allowed', at(1, 1001), at(0, 1000), 'costs too much'],
  ['cost where there was none', at(1, 1000), at(0, 0), 'costs too much'],
  ['an unknown price', at(1, null), at(0, 1000), 'price is unknown'],
])('does not promote %s, and says why', (_, candidate, baseline, why) => {
  const decision = decide(candidate, baseline, { maxCostRatio: 1 });
  expect(decision.promoted).toBe(false);
  expect(decision.sentence).toContain(why);
});

describe('cost', () => {
  test.each([
    ['is no matter where a gain is beyond chance and no ratio is set', 9000, 1000, null, 9],
    ['may be unknown then', null, 1000, null, null],
    ['is the same for two that cost nothing', 0, 0, 1, 1],
  ])('%s', (_, cost, other, maxCostRatio, costRatio) => {
    const decision = decide(at(1, cost), at(0, other), { maxCostRatio });
    expect(decision).toMatchObject({ promoted: true, costRatio });
  });

  test('promotes a checkpoint that is cheaper and not worse', () => {
    const decision = decide(at(0.99, 900), at(1, 1000));
    expect(decision).toMatchObject({ promoted: true, isLoss: true });
    expect(decision.sentence).toContain('nightly/000020 is not worse than nightly/000010, and cheaper');
  });

  test.each([
    ['cheaper, and worse by the margin', at(0.98, 900), at(1, 1000)],
    ['as good, and as dear', at(1, 1000), at(1, 1000)],
    ['as good, at an unknown price', at(1, null), at(1, 1000)],
    ['as good, and cheaper by chance', [...at(1, 1).slice(5), ...at(1, 1000).slice(1)], at(1, 1000)],
  ])('does not promote a checkpoint that is %s', (_, candidate, baseline) => {
    expect(decide(candidate, baseline)).toMatchObject({ promoted: false });
  });
});

test('each reuse of a held-out set requires stronger evidence', () => {
  const [one, other] = [rewards(1, 1, 0.5, 1, 1, 0.5), rewards(0.5, 0.5, 0.5, 0.5, 0.5, 0)];
  const bounds = [1, 2, 3, 30].map((judgement) => decide(one, other, { judgement }).lowerBound ?? NaN);
  expect(bounds).toEqual(bounds.toSorted((a, b) => b - a));
  expect(decide(one, other, { judgement: 30 })).toMatchObject({ promoted: false, judgement: 30 });
  expect(decide(one, other, { judgement: 30 }).sentence).toContain('with 99.995 % confidence');
});

test('being worse beyond chance counts as a loss', () => {
  expect(decide(rewards(0, 0, 0, 0, 0), rewards(1, 1, 1, 1, 1)).isLoss).toBe(true);
  expect(decide(rewards(0, 1, 0, 1, 0), rewards(1, 1, 0, 1, 0)).isLoss).toBe(false);
});

test('ignores a question that either policy was not asked or could not be graded on', () => {
  const decision = decide(
    [...rewards(1, 1, 1, 1, 1), { reward: null }, { reward: 0 }],
    [...rewards(0, 0, 0, 0, 0), { reward: 1 }, { reward: null }, { reward: 1 }],
  );
  expect(decision).toMatchObject({ promoted: true, pairs: 5, gain: 1 });
});

const score = record({
  reward: double({ min: 0, max: 1, noNaN: true }),
  nanoUsd: integer({ min: 1, max: 1e9 }),
});
const pairs = array(record({ one: score, other: score }), { minLength: FEWEST_VALUES, maxLength: 40 });

test('of two policies at most one beats the other, and only if the lower bound of its gain is above 0', () => {
  assert(
    property(pairs, (scores) => {
      const [one, other] = [scores.map((pair) => pair.one), scores.map((pair) => pair.other)];
      const [forth, back] = [decide(one, other), decide(other, one)];
      expect(forth.promoted && back.promoted).toBe(false);
      expect(forth.gain).toBeCloseTo(-(back.gain ?? NaN), 9);
      const { promoted, gain, lowerBound } = decide(one, other, { margin: 0 });
      expect(lowerBound ?? NaN).toBeLessThanOrEqual((gain ?? NaN) + 1e-12);
      expect(promoted).toBe((lowerBound ?? NaN) > 0);
    }),
  );
});

test('the order of the questions does not change the decision', () => {
  assert(
    property(pairs, (scores) => {
      const one = scores.map((pair, place) => ({ ...pair.one, question: `q${place}` }));
      const other = scores.map((pair, place) => ({ ...pair.other, question: `q${place}` }));
      const there = decide(one, other, { maxCostRatio: 1.1 });
      const back = decide([...one].reverse(), other, { maxCostRatio: 1.1 });
      expect(back.promoted).toBe(there.promoted);
      expect(back.lowerBound).toBeCloseTo(there.lowerBound ?? NaN, 9);
    }),
  );
});

test('says which gains a small held-out set cannot find, and nothing of a set of four hundred', () => {
  expect(describeSmallSet(400)).toBeNull();
  expect(describeSmallSet(20)).toBe(
    '20 held-out questions are few: with a standard deviation of 0.2, the gate detects a gain of 0.13 in the first ' +
      'night and of 0.28 in the 50th; detecting 0.05 takes about 400 questions',
  );
});

test.each([
  ['what its rollouts cost and half as much again', 1000, 20, 10, 300],
  ['half of the budget at most', 1000, 200, 10, 500],
  ['a quarter while no cost is known', 1000, 200, null, 250],
  ['nothing where rollouts cost nothing', 1000, 200, 0, 0],
])('reserves for the gate %s', (_, budget, rollouts, each, kept) => {
  expect(costOfGate(budget, rollouts, each)).toBe(kept);
});

const [OWN, PARENT] = [
  [1e-6, 3e-6, 2e-6, 1e-6, 2e-6],
  [0.012, 0.009, 0.015, 0.011, 0.013],
];
const GAPS = { own: OWN, parent: PARENT, tolerance: 1e-3 };

function tried(name: string, rewards: readonly (number | null)[]): ScoredPolicy {
  const scores = rewards.map((reward, place) => ({ question: `q${place}`, reward, nanoUsd: 0 }));
  return { policy: { trainRun: 'nightly', name }, scores };
}

const before = tried('000010', [1, 0.5, 1, 0.5, 0.5, 1]);

const ungraded = [null, null, null, null, null, null];
const alike = { own: [0.05, 0.04, 0.06, 0.05], parent: [0.0501, 0.0399, 0.06, 0.0499], tolerance: 0.1 };

test.each([
  ['serves as it was tried', tried('000020', [1, 0.5, 1, 0.5, 0.5, 1]), before, GAPS],
  ['is a little worse', tried('000020', [0.5, 1, 1, 0.5, 0.5, 0.5]), before, GAPS],
  ['has weights that hardly differ from those before it', before, before, alike],
  ['has no weights before it', before, before, { ...alike, parent: null }],
  ['could be graded no less than the other', tried('000020', ungraded), tried('000010', ungraded), GAPS],
])('keeps a checkpoint that %s', (_, promoted, replaced, gaps) => {
  expect(decideCanary(promoted, replaced, gaps).rolledBack).toBe(false);
});

test('a checkpoint that was asked nothing on the serving address has not passed there', () => {
  const { rolledBack, sentence } = decideCanary(tried('000020', []), tried('000010', []), null);
  expect(rolledBack).toBe(false);
  expect(sentence).toContain('nightly/000020 serves, and was not checked on the serving address');
});

const SWAPPED = { own: PARENT, parent: OWN, tolerance: 0.1 };

test.each([
  ['is worse beyond chance', tried('000020', [0, 0, 0.5, 0, 0, 0]), GAPS, 'it answers worse than before'],
  ['cannot be graded', tried('000020', ungraded), GAPS, 'could be graded'],
  [
    'has other weights',
    before,
    { ...GAPS, own: PARENT, parent: null },
    'weights differ from the trained ones',
  ],
  ['is served by the tolerated weights before it', before, SWAPPED, 'still answer with the previous weights'],
  ['has weights that come to no number', before, { ...GAPS, own: [NaN] }, 'weights differ'],
])('rolls back a checkpoint that %s, and says why', (_, promoted, gaps, why) => {
  const { rolledBack, sentence } = decideCanary(promoted, before, gaps);
  expect(rolledBack).toBe(true);
  expect(sentence).toContain(why);
});

test('the questions of a canary are the same each time, spread over the set, and all different', () => {
  const questions = canaryQuestions('questions/x.jsonl', 130);
  const indices = questions.map(({ index }) => index);
  expect(new Set(indices).size).toBe(CANARY_QUESTIONS);
  expect(Math.max(...indices)).toBeLessThan(130);
  expect(Math.max(...indices)).toBeGreaterThan(100);
  expect(canaryQuestions('questions/x.jsonl', 3).map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(canaryQuestions('questions/x.jsonl', 0)).toEqual([]);
});
