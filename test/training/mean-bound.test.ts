import { lowerBound95, tQuantile95, upperBound95 } from '../../src/training/statistics';

// NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2, column 0.95.
test.each([
  [4, 2.132],
  [5, 2.015],
  [10, 1.812],
  [19, 1.729],
  [30, 1.697],
  [100, 1.66],
])('95 %% of the t distribution with %i degrees of freedom lie below %f', (degrees, quantile) => {
  expect(tQuantile95(degrees)).toBeCloseTo(quantile, 3);
});

test('a bound is as far from the mean as the t distribution says', () => {
  // Mean 3, standard deviation √2.5, standard error √0.5.
  expect(lowerBound95([1, 2, 3, 4, 5])).toBeCloseTo(3 - 2.132 * Math.SQRT1_2, 3);
  expect(upperBound95([1, 2, 3, 4, 5])).toBeCloseTo(3 + 2.132 * Math.SQRT1_2, 3);
});

test('values that agree are their own bound, and few values have none', () => {
  expect(lowerBound95([2, 2, 2, 2, 2])).toBe(2);
  expect(lowerBound95([2, 2, 2, 2])).toBeNull();
  expect(upperBound95([])).toBeNull();
});
