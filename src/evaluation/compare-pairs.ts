import { resampleMean } from './resample';
import { scoreInterval, scoreTest, smallestFound, type Study } from './score-test';
import { type Interval, meanOf, RISK, smallestGain, spreadOf } from './statistics';

// Compares two methods on the same questions. Interval and p always come from one test, so that they cannot disagree.

/** One method compared with another on the questions that both were judged on. */
export interface Comparison {
  readonly against: string;
  /** Number of questions, each counted once however often it was tried. */
  readonly pairs: number;
  readonly gain: number;
  readonly interval: Interval;
  readonly p: number;
  /** Smallest difference that is detected with a power of 80 %; null with too few questions. */
  readonly smallestGain: number | null;
}

/**
 * Compares by score differences: a list for each question, with a value for each try. With one try each, verdicts
 * differ by 1 or not at all, and Tango's score interval applies; with more tries, questions are resampled.
 */
export function compareTries(
  against: string,
  differences: readonly (readonly number[])[],
): Comparison | null {
  const means = differences.map((tries) => meanOf(tries) ?? 0);
  const gain = meanOf(means);
  if (gain === null) return null;
  const pairs = means.length;
  const wasOnce = differences.every((tries) => tries.length === 1 && tries.every(Number.isInteger));
  return { against, pairs, gain, ...(wasOnce ? compareVerdicts(means) : compareMeans(means)) };
}

type Judged = Pick<Comparison, 'interval' | 'p' | 'smallestGain'>;

function compareVerdicts(differences: readonly number[]): Judged {
  const study: Study = {
    better: differences.filter((difference) => difference > 0).length,
    worse: differences.filter((difference) => difference < 0).length,
    questions: differences.length,
  };
  return {
    interval: scoreInterval(study),
    p: scoreTest(study),
    smallestGain: smallestFound(study.questions, (study.better + study.worse) / study.questions),
  };
}

function compareMeans(means: readonly number[]): Judged {
  const { interval, p } = resampleMean(means);
  const spread = Math.max(spreadOf(means) || 0, Math.sqrt(3 / means.length));
  return { interval: clamp(interval, -1, 1), p, smallestGain: smallestGain(means.length, spread, RISK / 2) };
}

export function clamp([low, high]: Interval, least: number, most: number): Interval {
  return [Math.max(least, low), Math.min(most, high)];
}

/**
 * Adjusts p values by Holm's method (1979): the chance that any of several methods without a real difference gets a p
 * below 0.05 is at most 0.05, however the methods depend on each other.
 */
export function adjustByHolm(ps: readonly number[]): number[] {
  const ranked = ps.map((p, place) => ({ p, place })).sort((one, other) => one.p - other.p);
  const adjusted = ps.map(() => 1);
  let least = 0;
  for (const [rank, { p, place }] of ranked.entries()) {
    least = Math.max(least, Math.min(1, (ps.length - rank) * p));
    adjusted[place] = least;
  }
  return adjusted;
}
