import { tQuantile95 } from './t-quantile';

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

/** The upper one. */
export function upperBound95(values: readonly number[]): number | null {
  const bound = lowerBound95(values.map((value) => -value));
  return bound === null ? null : -bound;
}
