import { randomFrom } from './chance';
import { meanOf, smallestGain, spreadOf } from './statistics';

/** Two bounds between which a value lies with 95 % confidence. */
export type Interval = readonly [low: number, high: number];

const RESAMPLES = 1_000;
/** Of both tails together. */
const RISK = 0.05;

/**
 * The percentile bootstrap interval of a mean: the questions are drawn anew with replacement, always the same way.
 *
 * Where all values are equal, no resample differs; then it is Wilson's interval, which knows that the next may.
 */
export function intervalOf(values: readonly number[]): Interval | null {
  const mean = meanOf(values);
  if (mean === null) return null;
  if (values.every((value) => value === values[0])) return wilson(mean, values.length);
  const random = randomFrom('bootstrap', values.length);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let left = values.length; left > 0; left -= 1)
      sum += values[Math.floor(random() * values.length)] ?? 0;
    return sum / values.length;
  }).sort((one, other) => one - other);
  const at = (share: number): number => means[Math.floor(share * (RESAMPLES - 1))] ?? mean;
  return [at(RISK / 2), at(1 - RISK / 2)];
}

/** The 97.5th percentile of the normal distribution. */
const Z = 1.959964;

function wilson(mean: number, count: number): Interval {
  const denominator = 1 + Z ** 2 / count;
  const centre = (mean + Z ** 2 / (2 * count)) / denominator;
  const half = (Z * Math.sqrt((mean * (1 - mean)) / count + Z ** 2 / (4 * count ** 2))) / denominator;
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

/** One method held against another on the questions that both could be judged on. */
export interface Comparison {
  readonly against: string;
  readonly pairs: number;
  /** Mean score less the other's. */
  readonly gain: number;
  readonly interval: Interval;
  /** How often chance alone would differ as much: McNemar's exact test, two-sided. */
  readonly p: number;
  /** The smallest difference that would have been found, four times out of five; null with too few questions. */
  readonly smallestGain: number | null;
}

/** @param pairs a score of 0 or 1 each, of the method and of the other one; null without any */
export function comparePairs(
  against: string,
  pairs: readonly (readonly [number, number])[],
): Comparison | null {
  const differences = pairs.map(([own, other]) => own - other);
  const gain = meanOf(differences);
  const interval = intervalOfDifferences(differences);
  if (gain === null || interval === null) return null;
  const better = differences.filter((difference) => difference > 0).length;
  const worse = differences.filter((difference) => difference < 0).length;
  return {
    against,
    pairs: pairs.length,
    gain,
    interval,
    p: coinOdds(better, worse),
    smallestGain: smallestGain(pairs.length, spreadWithin(differences), RISK / 2),
  };
}

/** With no discordant pairs, assume a rate of 3/n (rule of three). */
function spreadWithin(differences: readonly number[]): number {
  return Math.max(spreadOf(differences), Math.sqrt(3 / differences.length));
}

function intervalOfDifferences(differences: readonly number[]): Interval | null {
  const isEqual = differences.every((difference) => difference === differences[0]);
  if (!isEqual) return intervalOf(differences);
  const [first] = differences;
  if (first === undefined) return null;
  const [low, high] = wilson(Math.abs(first), differences.length);
  if (first === 0) return [-high, high];
  return first > 0 ? [low, high] : [-high, -low];
}

/**
 * How often a coin would fall as unevenly, two-sided: of the questions that told two methods apart, either may have won.
 * It is the sign test, and of verdicts McNemar's exact one.
 */
export function coinOdds(better: number, worse: number): number {
  const count = better + worse;
  let tail = 0;
  // Logarithms: the coefficients of a few hundred questions are beyond every number.
  let logTerm = -count * Math.LN2;
  for (let wins = 0; wins <= Math.min(better, worse); wins += 1) {
    tail += Math.exp(logTerm);
    logTerm += Math.log(count - wins) - Math.log(wins + 1);
  }
  return Math.min(1, 2 * tail);
}

/** The value below which a share of the values lies, by the nearest rank; null without values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
