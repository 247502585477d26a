import { randomFrom } from './chance';
import { type Interval, meanOf, RISK, spreadOf, tQuantile, tTail } from './statistics';

/** An interval of 95 % for a mean over questions, and the p of its being 0, which agree. */
interface Resampled {
  readonly interval: Interval;
  readonly p: number;
  readonly standardError: number | null;
}

const DRAWS = 1_999;
/** Beyond, Student's t distribution is as good, and draws take long. */
const MOST_VALUES = 2_000;

/**
 * Bootstrap over questions: draws whole questions, with all their tries, and looks how far the drawn means lie from the real
 * one, in standard errors. Student's t distribution is the least that is asked for: few values that agree by chance would
 * otherwise pass for certainty.
 */
export function resampleMean(values: readonly number[]): Resampled {
  const mean = meanOf(values) ?? 0;
  const count = values.length;
  if (count < 2) return { interval: [-Infinity, Infinity], p: 1, standardError: null };
  const standardError = spreadOf(values) / Math.sqrt(count);
  // Where all agree, as many as 3 of n might not have (rule of three).
  const assumed = standardError > 0 ? standardError : Math.sqrt(3) / count;
  const distances = count > MOST_VALUES ? [] : drawDistances(values, mean);
  const distance = Math.abs(mean) / assumed;
  const further = distances.filter((each) => each >= distance).length;
  const p = distances.length === 0 ? 0 : (1 + further) / (1 + DRAWS);
  // As many distances may be larger as leave p below the risk.
  const allowed = Math.ceil(RISK * (1 + DRAWS)) - 2;
  const drawn = distances.toSorted((one, other) => other - one)[allowed] ?? 0;
  const half = Math.max(drawn, tQuantile(RISK / 2, count - 1)) * assumed;
  return {
    interval: [mean - half, mean + half],
    p: Math.min(1, Math.max(p, 2 * tTail(distance, count - 1))),
    standardError,
  };
}

/** Distances of drawn means from the real one, each in standard errors of its own draw. */
function drawDistances(values: readonly number[], mean: number): number[] {
  const random = randomFrom('resample', values.length);
  const count = values.length;
  // A draw in which nearly all happen to agree says too little of its own spread.
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
