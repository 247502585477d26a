import {
  lowerBound,
  meanInterval,
  percentile,
  riskOf,
  shareInterval,
  smallestGain,
  spreadOf,
  tQuantile,
  upperBound,
} from '../../src/statistics/statistics';
import { sharesOf, sumCounts, tally } from '../../src/statistics/tally';
import { randomFrom } from '../../src/statistics/chance';

// NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2.
test.each([
  [0.05, 4, 2.132],
  [0.05, 19, 1.729],
  [0.01, 10, 2.764],
  [0.001, 4, 7.173],
  [0.001, 30, 3.385],
  [0.025, 1000, 1.962],
])(
  'a share of %f of the t distribution with %i degrees of freedom lies above %f',
  (risk, degrees, quantile) => {
    expect(tQuantile(risk, degrees)).toBeCloseTo(quantile, 2.5);
  },
);

test('a bound is as far from the mean as the t distribution says', () => {
  // Mean 3, standard deviation √2.5, standard error √0.5.
  expect(lowerBound([1, 2, 3, 4, 5], 0.05)).toBeCloseTo(3 - 2.132 * Math.SQRT1_2, 3);
  expect(upperBound([1, 2, 3, 4, 5], 0.001)).toBeCloseTo(3 + 7.173 * Math.SQRT1_2, 3);
  expect(meanInterval([1, 2, 3, 4, 5])?.[1]).toBeCloseTo(3 + 2.776 * Math.SQRT1_2, 3);
});

test('equal values are their own bound or interval, and too few values have none', () => {
  expect(lowerBound([2, 2, 2, 2, 2], 0.05)).toBe(2);
  expect(lowerBound([2, 2, 2, 2], 0.05)).toBeNull();
  expect(upperBound([], 0.05)).toBeNull();
  expect(meanInterval([2, 2])).toEqual([2, 2]);
  expect(meanInterval([2])).toBeNull();
  expect(shareInterval([])).toBeNull();
});

test('all judgements on one set of questions together err 5 times out of a hundred', () => {
  const risks = Array.from({ length: 10_000 }, (_, place) => riskOf(place + 1));
  expect(risks[0]).toBe(0.025);
  expect(risks.reduce((sum, risk) => sum + risk, 0)).toBeCloseTo(0.05, 4);
});

const NIGHTS = 30;
const QUESTIONS = 60;

/** Returns the share of training runs that learn nothing in which some night of thirty looks like a gain. */
function falseAlarms(runs: number, riskOfNight: (night: number) => number): number {
  const random = randomFrom('false alarms');
  let alarms = 0;
  for (let run = 0; run < runs; run += 1) {
    // Randomness that the nights share, because they are judged on the same questions.
    const shared = Array.from({ length: QUESTIONS }, () => random());
    const isAlarm = Array.from({ length: NIGHTS }, (_, night) => {
      const gains = shared.map((lean) => (random() < 0.5 ? Math.sign(lean - random()) / 2 : 0));
      return (lowerBound(gains, riskOfNight(night + 1)) ?? 0) > 0;
    }).includes(true);
    if (isAlarm) alarms += 1;
  }
  return alarms / runs;
}

test('thirty nights that learn nothing rarely pass for a gain, and often would without the correction', () => {
  expect(falseAlarms(200, riskOf)).toBeLessThanOrEqual(0.08);
  expect(falseAlarms(50, () => 0.05)).toBeGreaterThan(0.3);
});

test('four hundred questions can show a gain of 0.05 through fifty nights, at a spread of 0.2', () => {
  expect(smallestGain(400, 0.2, riskOf(50))).toBeCloseTo(0.05, 3);
  expect(smallestGain(4, 0.2, 0.05)).toBeNull();
  expect(spreadOf([1, 2, 3, 4, 5])).toBeCloseTo(Math.sqrt(2.5), 12);
});

const scores = (right: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => (index < right ? 1 : 0));

test.each([
  // Brown, Cai and DasGupta 2001: the centre moves towards a half; if all agree, z² / (n + z²) is left.
  [60, 100, 0.502, 0.691],
  [10, 10, 1 - 3.8415 / 13.8415, 1],
])("Wilson's interval of %d right of %d", (right, count, low, high) => {
  const [least = NaN, most = NaN] = shareInterval(scores(right, count)) ?? [];
  expect(least).toBeCloseTo(low, 3);
  expect(most).toBeCloseTo(high, 3);
});

test('percentiles are values that occurred', () => {
  expect(percentile([3, 1, 2, 4], 0.5)).toBe(2);
  expect(percentile([3, 1, 2, 4], 0.95)).toBe(4);
  expect(percentile([], 0.5)).toBeNull();
});

test('words are counted, and counts are added up and turned into shares, whatever the names', () => {
  const counts = tally(['a', '__proto__', 'a']);
  expect(Object.entries(counts)).toEqual([
    ['a', 2],
    ['__proto__', 1],
  ]);
  expect(Object.entries(sumCounts([counts, { a: 1 }]))).toEqual([
    ['a', 3],
    ['__proto__', 1],
  ]);
  expect(sharesOf({ a: 3, b: 1 })).toEqual({ a: 0.75, b: 0.25 });
  expect(sharesOf({})).toEqual({});
});
