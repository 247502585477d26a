import { randomFrom } from '../statistics/chance';
import { scoreInterval, scoreTest, smallestFound, type Study } from './score-test';
import {
  type Interval,
  meanOf,
  RISK,
  smallestGain,
  spreadOf,
  tQuantile,
  tTail,
} from '../statistics/statistics';

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

/** 95 % interval of a mean over questions, and a p value for a mean of 0 that agrees with it. */
interface Resampled {
  readonly interval: Interval;
  readonly p: number;
  readonly standardError: number | null;
}

const DRAWS = 1_999;
/** With more values, Student's t distribution is as accurate, and resampling takes long. */
const MOST_VALUES = 2_000;

/**
 * Bootstraps a mean over questions: draws whole questions with all their tries, and measures how far the drawn means
 * lie from the real one in standard errors. The result is at least as cautious as Student's t distribution, since a
 * few values that agree by chance would otherwise look certain.
 */
export function resampleMean(values: readonly number[]): Resampled {
  const mean = meanOf(values) ?? 0;
  const count = values.length;
  if (count < 2) return { interval: [-Infinity, Infinity], p: 1, standardError: null };
  const standardError = spreadOf(values) / Math.sqrt(count);
  // If all values agree, assume that 3 of n differ (rule of three).
  const assumed = standardError > 0 ? standardError : Math.sqrt(3) / count;
  const distances = count > MOST_VALUES ? [] : drawDistances(values, mean);
  const distance = Math.abs(mean) / assumed;
  const further = distances.filter((each) => each >= distance).length;
  const p = distances.length === 0 ? 0 : (1 + further) / (1 + DRAWS);
  // Largest number of greater distances for which p stays below the risk.
  const allowed = Math.ceil(RISK * (1 + DRAWS)) - 2;
  const drawn = distances.toSorted((one, other) => other - one)[allowed] ?? 0;
  const half = Math.max(drawn, tQuantile(RISK / 2, count - 1)) * assumed;
  return {
    interval: [mean - half, mean + half],
    p: Math.min(1, Math.max(p, 2 * tTail(distance, count - 1))),
    standardError,
  };
}

/** Returns the distances of drawn means from the real one, each in standard errors of its own draw. */
function drawDistances(values: readonly number[], mean: number): number[] {
  const random = randomFrom('resample', values.length);
  const count = values.length;
  // A draw whose values nearly all agree by chance underestimates the spread.
  const leastVariance = Math.max(spreadOf(values) ** 2 / 4, Number.EPSILON);
  return Array.from({ length: DRAWS }, () => {
    let [sum, squares] = [0, 0];
    for (let draw = 0; draw < count; draw += 1) {
      const value = (values[Math.floor(random() * count)] ?? 0) - mean;
      sum += value;
      squares += value * value;
    }
    const variance = (squares - (sum * sum) / count) / (count - 1);
    return Math.abs(sum / count) / Math.sqrt(Math.max(variance, leastVariance) / count);
  });
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
