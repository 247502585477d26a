import { comparePairs, intervalOf, percentile } from '../../src/evaluation/compare';
import { randomFrom } from '../../src/evaluation/chance';

const scores = (right: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => (index < right ? 1 : 0));

test('the bootstrap interval of 60 right of 100 is that of the normal approximation', () => {
  const [low, high] = intervalOf(scores(60, 100)) ?? [];
  expect(low).toBeCloseTo(0.6 - 1.96 * Math.sqrt(0.24 / 100), 1);
  expect(high).toBeCloseTo(0.6 + 1.96 * Math.sqrt(0.24 / 100), 1);
  expect(intervalOf(scores(60, 100))).toEqual([low, high]);
});

test('where all agree, the next one still may not: Wilson, 10 of 10', () => {
  const [low, high] = intervalOf(scores(10, 10)) ?? [];
  // Brown, Cai and DasGupta 2001: z² / (n + z²) below 1.
  expect(low).toBeCloseTo(1 - 3.8415 / 13.8415, 3);
  expect(high).toBeCloseTo(1, 9);
  expect(intervalOf([])).toBeNull();
});

test('intervals mostly hold the true score', () => {
  const random = randomFrom('coverage');
  let held = 0;
  for (let trial = 0; trial < 30; trial += 1) {
    const drawn = Array.from({ length: 60 }, () => (random() < 0.7 ? 1 : 0));
    const [low = 0, high = 0] = intervalOf(drawn) ?? [];
    if (low <= 0.7 && 0.7 <= high) held += 1;
  }
  expect(held / 30).toBeGreaterThan(0.85);
});

const pairsOf = (better: number, worse: number, equal: number): (readonly [number, number])[] => [
  ...Array.from({ length: better }, () => [1, 0] as const),
  ...Array.from({ length: worse }, () => [0, 1] as const),
  ...Array.from({ length: equal }, () => [1, 1] as const),
];

test.each([
  // Two-sided binomial tails, by hand.
  [5, 0, 2 / 32],
  [6, 1, (2 * 8) / 128],
  [3, 3, 1],
  [0, 0, 1],
])('%d better and %d worse: p = %d by McNemar, exactly', (better, worse, p) => {
  expect(comparePairs('other', pairsOf(better, worse, 20))?.p).toBeCloseTo(p, 9);
});

test('a large set neither overflows nor loses the tail', () => {
  const compared = comparePairs('other', pairsOf(900, 700, 0));
  expect(compared?.p).toBeGreaterThan(0);
  expect(compared?.p).toBeLessThan(1e-6);
});

test('what could have been found shrinks with the questions, and is never 0', () => {
  const smallest = (count: number): number =>
    comparePairs('other', pairsOf(0, 0, count))?.smallestGain ?? NaN;
  expect(smallest(400)).toBeLessThan(smallest(100));
  expect(smallest(400)).toBeGreaterThan(0);
  expect(comparePairs('other', pairsOf(1, 0, 2))?.smallestGain).toBeNull();
  expect(comparePairs('other', [])).toBeNull();
});

test('a gain of a study of 200 pairs is found four times out of five where it is the smallest one', () => {
  const pairs = pairsOf(30, 10, 160);
  const smallest = comparePairs('other', pairs)?.smallestGain ?? 0;
  // Normal approximation: (1.96 + 0.84) · spread / √n.
  expect(smallest).toBeCloseTo((2.8 * Math.sqrt(0.2 - 0.01)) / Math.sqrt(200), 2);
});

test('percentiles are values that occurred', () => {
  expect(percentile([3, 1, 2, 4], 0.5)).toBe(2);
  expect(percentile([3, 1, 2, 4], 0.95)).toBe(4);
  expect(percentile([], 0.5)).toBeNull();
});
