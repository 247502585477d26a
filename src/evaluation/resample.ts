import { randomFrom } from './chance';
import { type Interval, meanOf, RISK, spreadOf, tQuantile, tTail } from './statistics';

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
