import fc from 'fast-check';
import { adjustByHolm, compareTries, resampleMean } from '../../src/evaluation/compare-pairs';
import { scoreInterval, scoreTest, smallestFound } from '../../src/evaluation/score-test';
import { tries } from '../support/thorough';

const differencesOf = (better: number, worse: number, equal: number): number[][] => [
  ...Array.from({ length: better }, () => [1]),
  ...Array.from({ length: worse }, () => [-1]),
  ...Array.from({ length: equal }, () => [0]),
];

test("the interval for 12 better and 2 worse of 50 is Tango's, slightly wider by Student's t distribution", () => {
  // With the normal distribution: 0.0611 to 0.3447.
  const [low, high] = scoreInterval({ better: 12, worse: 2, questions: 50 });
  expect(low).toBeCloseTo(0.056, 2);
  expect(high).toBeCloseTo(0.35, 2);
  expect(scoreInterval({ better: 0, worse: 0, questions: 400 })[1]).toBeCloseTo(0.0096, 3);
  expect(scoreInterval({ better: 1, worse: 0, questions: 1 })).toEqual([-1, 1]);
});

test("the p-value is that of McNemar's test", () => {
  // (12 - 2)² / 14, the square of 2.67 standard errors: t tails with 49 degrees of freedom.
  expect(scoreTest({ better: 12, worse: 2, questions: 50 })).toBeCloseTo(0.01, 2);
  expect(scoreTest({ better: 3, worse: 3, questions: 20 })).toBe(1);
  expect(scoreTest({ better: 0, worse: 0, questions: 20 })).toBe(1);
  const large = scoreTest({ better: 900, worse: 700, questions: 1600 });
  expect(large > 0 && large < 1e-6).toBe(true);
});

const counts = fc.tuple(fc.nat(40), fc.nat(40), fc.nat(60)).filter(([b, w, e]) => b + w + e > 0);

test('interval and p-value never contradict each other, contain the gain, and mirror swapped methods', () => {
  fc.assert(
    fc.property(counts, ([better, worse, equal]) => {
      const one = compareTries('other', differencesOf(better, worse, equal));
      const other = compareTries('one', differencesOf(worse, better, equal));
      if (one === null || other === null) throw new Error('some were judged');
      const [low, high] = one.interval;
      expect(one.p < 0.05).toBe(low > 0 || high < 0);
      expect(low <= one.gain && one.gain <= high).toBe(true);
      expect(low >= -1 && high <= 1).toBe(true);
      expect(other.interval[0]).toBeCloseTo(-high, 9);
      expect(other.p).toBeCloseTo(one.p, 9);
    }),
    { numRuns: tries(40) },
  );
});

test('the smallest gain that can be found shrinks with more questions, and is never 0', () => {
  expect(smallestFound(400, 0)).toBeLessThan(smallestFound(100, 0) ?? 0);
  expect(smallestFound(400, 0)).toBeGreaterThan(0);
  expect(smallestFound(2, 0.5)).toBeNull();
  // Up to 2,000 questions, all outcomes are summed; above that, an approximation must agree.
  expect(smallestFound(2000, 0.2)).toBeCloseTo(smallestFound(2001, 0.2) ?? NaN, 3);
  expect(compareTries('other', [])).toBeNull();
});

test('tries of one question count together, not as separate questions', () => {
  const once = differencesOf(8, 2, 20);
  const thrice = once.map(([difference = 0]) => [difference, difference, difference]);
  const [single, repeated] = [compareTries('other', once), compareTries('other', thrice)];
  expect(repeated).toMatchObject({ pairs: 30, gain: single?.gain });
  const widthOf = ([low, high]: readonly [number, number] = [0, 0]): number => high - low;
  expect(widthOf(repeated?.interval) / widthOf(single?.interval)).toBeCloseTo(1, 0);
  // If each try counted as a question of its own, the interval would be narrower by a factor of √3.
  expect(widthOf(repeated?.interval)).toBeGreaterThan(0.8 * widthOf(single?.interval));
});

test('resampled intervals agree with their p-values, and few values do not pass for certainty', () => {
  const values = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(values, (thirds) => {
      const { interval, p } = resampleMean(thirds.map((third) => third / 3));
      expect(p < 0.05).toBe(interval[0] > 0 || interval[1] < 0);
    }),
    { numRuns: tries(20) },
  );
  expect(resampleMean([1]).p).toBe(1);
  expect(resampleMean([0, 0, 0, 0]).interval[1]).toBeGreaterThan(0.5);
});

test("Holm's adjustment multiplies the least p by the number of all, each next by one fewer, in any order", () => {
  expect(adjustByHolm([0.04, 0.01, 0.03])).toEqual([0.06, 0.03, 0.06]);
  expect(adjustByHolm([0.9, 0.8])).toEqual([1, 1]);
  expect(adjustByHolm([])).toEqual([]);
});
