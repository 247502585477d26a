import { array, assert, double, integer, property, record } from 'fast-check';
import { decideGate, type QuestionScore, type ScoredPolicy } from '../../src/training/gate';
import { FEWEST_VALUES } from '../../src/training/statistics';

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
  maxCostRatio = 1,
): ReturnType<typeof decideGate> {
  return decideGate(scored(CANDIDATE, candidate), scored(BASELINE, baseline), maxCostRatio);
}

const rewards = (...values: readonly number[]): { reward: number }[] => values.map((reward) => ({ reward }));

test('a gain beyond chance at no more cost is promoted, and the sentence prints every figure', () => {
  const decision = decide(rewards(1, 1, 0.5, 1, 1, 0.5), rewards(0.5, 0.5, 0.5, 0.5, 0.5, 0));
  // Gains of 0.5 five times and 0 once: their mean is 5/12 and its standard error 1/12; t(0.95, 5) is 2.015.
  expect(decision).toMatchObject({ promoted: true, pairs: 6, costRatio: 1 });
  expect(decision.gain).toBeCloseTo(5 / 12, 12);
  expect(decision.lowerBound).toBeCloseTo(5 / 12 - 2.015 / 12, 3);
  expect(decision.sentence).toBe(
    'nightly/000020 beats nightly/000010 (mean reward 0.833 against 0.417 on 6 held-out questions, gain +0.417, ' +
      '95 % sure of more than +0.249, 1.000 times its cost, where at most 1 times is allowed)',
  );
});

test.each([
  ['a gain that may be chance', rewards(1, 0, 1, 0, 1, 0.5), rewards(0, 1, 0.5, 0, 1, 0), 'may be chance'],
  ['no gain at all', rewards(1, 1, 1, 1, 1, 1), rewards(1, 1, 1, 1, 1, 1), 'may be chance'],
  ['too few questions', rewards(1, 1, 1, 1), rewards(0, 0, 0, 0), '4 held-out questions'],
  ['no questions', [], [], '0 held-out questions'],
  [
    'more cost than allowed',
    rewards(1, 1, 1, 1, 1).map((score) => ({ ...score, nanoUsd: 1001 })),
    rewards(0, 0, 0, 0, 0),
    'costs too much',
  ],
  [
    'cost where there was none',
    rewards(1, 1, 1, 1, 1),
    rewards(0, 0, 0, 0, 0).map((score) => ({ ...score, nanoUsd: 0 })),
    'costs too much',
  ],
  [
    'an unknown price',
    rewards(1, 1, 1, 1, 1).map((score) => ({ ...score, nanoUsd: null })),
    rewards(0, 0, 0, 0, 0),
    'price is unknown',
  ],
])('%s is not promoted, and the sentence says why', (_, candidate, baseline, why) => {
  const decision = decide(candidate, baseline);
  expect(decision.promoted).toBe(false);
  expect(decision.sentence).toContain(why);
});

test('two that cost nothing cost the same', () => {
  const free = (reward: number): Partial<QuestionScore>[] =>
    Array.from({ length: 5 }, () => ({ reward, nanoUsd: 0 }));
  expect(decide(free(1), free(0))).toMatchObject({ promoted: true, costRatio: 1 });
});

test('a question that either could not be graded on, or was not asked, counts for neither', () => {
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

test('of two policies, at most one beats the other', () => {
  assert(
    property(pairs, (scores) => {
      const [one, other] = [scores.map((pair) => pair.one), scores.map((pair) => pair.other)];
      const [forth, back] = [decide(one, other, 1e9), decide(other, one, 1e9)];
      expect(forth.promoted && back.promoted).toBe(false);
      expect(forth.gain).toBeCloseTo(-(back.gain ?? NaN), 9);
    }),
  );
});

test('the bound lies below the gain, and what promotes is a bound above 0', () => {
  assert(
    property(pairs, (scores) => {
      const { promoted, gain, lowerBound } = decide(
        scores.map((pair) => pair.one),
        scores.map((pair) => pair.other),
        1e9,
      );
      expect(lowerBound ?? NaN).toBeLessThanOrEqual((gain ?? NaN) + 1e-12);
      expect(promoted).toBe((lowerBound ?? NaN) > 0);
    }),
  );
});

test('asking the same questions in another order decides the same', () => {
  assert(
    property(pairs, (scores) => {
      const named = scores.map((pair, place) => ({ ...pair, question: `q${place}` }));
      const [one, other] = [
        named.map(({ one, question }) => ({ ...one, question })),
        named.map(({ other, question }) => ({ ...other, question })),
      ];
      const there = decide(one, other, 1.1);
      const back = decide([...one].reverse(), other, 1.1);
      expect(back.promoted).toBe(there.promoted);
      expect(back.lowerBound).toBeCloseTo(there.lowerBound ?? NaN, 9);
    }),
  );
});
