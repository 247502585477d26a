import { mean } from './mean';

/**
 * How far the mean of values may be off by chance: half of its two-sided 95 % interval by the normal distribution, which
 * for dozens of values is near enough.
 */
export function halfWidth95(values: readonly number[]): number {
  const center = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1);
  return Z95 * Math.sqrt(variance / values.length);
}

/** The same of a share that was counted in so many cases. */
export function halfWidthOfShare95(share: number, cases: number): number {
  return Z95 * Math.sqrt((share * (1 - share)) / cases);
}

/** 95 % of the standard normal distribution lie within it of 0. */
const Z95 = 1.96;
