/** Fewer values say nothing of how much their mean may be chance, least of all where they happen to agree. */
export const FEWEST_VALUES = 5;

/** null without values. */
export function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * The lower 95 % bound of a mean, one-sided, by Student's t distribution; null with too few values for one. Values that
 * are all the same are their own bound.
 */
export function lowerBound95(values: readonly number[]): number | null {
  const mean = meanOf(values);
  if (mean === null || values.length < FEWEST_VALUES) return null;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const error = Math.sqrt(squares / (values.length - 1) / values.length);
  return mean - tQuantile95(values.length - 1) * error;
}

export function upperBound95(values: readonly number[]): number | null {
  const bound = lowerBound95(values.map((value) => -value));
  return bound === null ? null : -bound;
}

/** 95 % of the standard normal distribution lie below. */
const Z = 1.6448536269514722;

/** Coefficients of 1/ν, 1/ν², 1/ν³ and 1/ν⁴ at that quantile. */
const TERMS = [
  (Z ** 3 + Z) / 4,
  (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
  (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
  (79 * Z ** 9 + 776 * Z ** 7 + 1482 * Z ** 5 - 1920 * Z ** 3 - 945 * Z) / 92_160,
];

/**
 * 95 % of Student's t distribution lie below, by its expansion about the normal one (Abramowitz and Stegun 26.7.5). From
 * four degrees of freedom on it is right to three decimals, which is all that a gate needs; a library of statistics would
 * bring two hundred packages for this one number.
 */
export function tQuantile95(degrees: number): number {
  return TERMS.reduce((sum, term, power) => sum + term / degrees ** (power + 1), Z);
}
