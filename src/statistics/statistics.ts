// Statistics of evaluations and of the nightly gate; a library would bring two hundred packages for these few functions.

/** 95 % confidence interval. */
export type Interval = readonly [low: number, high: number];

/** Two-sided significance level of an interval, and of all gate decisions on one held-out set together. */
export const RISK = 0.05;
/** Type II error rate: a real difference is missed one time out of five. */
export const MISSED = 0.2;
/** With fewer values, chance cannot be estimated, least of all if they happen to agree. */
export const FEWEST_VALUES = 5;

export function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function sumOfAll(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}

export function meanOfAll(values: readonly (number | null)[]): number | null {
  const sum = sumOfAll(values);
  return sum === null || values.length === 0 ? null : sum / values.length;
}

/** Returns the sample standard deviation of at least two values. */
export function spreadOf(values: readonly number[]): number {
  const mean = meanOf(values) ?? 0;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/** Returns the value below which a share of the values lies, by nearest rank; null without values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

/**
 * Returns the significance level of the n-th gate decision on one held-out set. The levels of any number of decisions
 * add up to at most 5 %, however the decisions depend on each other (Bonferroni, with weights 1/n(n + 1)).
 */
export function riskOf(judgement: number): number {
  return RISK / (judgement * (judgement + 1));
}

/**
 * Returns the one-sided lower bound of a mean by Student's t distribution, wrong with probability `risk`; null with
 * too few values. If all values are equal, the bound is that value.
 */
export function lowerBound(values: readonly number[], risk: number): number | null {
  const mean = meanOf(values);
  if (mean === null || values.length < FEWEST_VALUES) return null;
  return mean - (tQuantile(risk, values.length - 1) * spreadOf(values)) / Math.sqrt(values.length);
}

export function upperBound(values: readonly number[], risk: number): number | null {
  const negated = values.map((value) => -value);
  const bound = lowerBound(negated, risk);
  return bound === null ? null : -bound;
}

/** Returns the smallest mean difference detected with a power of 80 %; null with too few questions. */
export function smallestGain(questions: number, spread: number, risk: number): number | null {
  if (questions < FEWEST_VALUES) return null;
  const degrees = questions - 1;
  return ((tQuantile(risk, degrees) + tQuantile(MISSED, degrees)) * spread) / Math.sqrt(questions);
}

/** Narrows the place between two values at which `isInside` turns false; returns the outer bound after some steps. */
export function bisect(
  inside: number,
  outside: number,
  steps: number,
  isInside: (value: number) => boolean,
): number {
  let [near, far] = [inside, outside];
  for (let step = 0; step < steps; step += 1) {
    const middle = (near + far) / 2;
    if (isInside(middle)) near = middle;
    else far = middle;
  }
  return far;
}

/** Returns the value that Student's t distribution exceeds with probability `risk`, which must be below ½. */
export function tQuantile(risk: number, degrees: number): number {
  let [low, high] = [0, 1];
  while (tTail(high, degrees) > risk) [low, high] = [high, 2 * high];
  return bisect(low, high, 60, (value) => tTail(value, degrees) > risk);
}

/** Returns the probability of a value above `t`, for whole degrees (Abramowitz and Stegun 26.7.3 and 26.7.4). */
export function tTail(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const isOdd = degrees % 2 === 1;
  let sum = 0;
  let term = isOdd ? cosine : 1;
  for (let power = isOdd ? 1 : 0; power <= degrees - 2; power += 2) {
    sum += term;
    term *= (cosine ** 2 * (power + 1)) / (power + 2);
  }
  const within = isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
  return (1 - within) / 2;
}

const Z = 1.959964;

/** Returns Wilson's score interval (1927) of a share of right answers, as scores of 0 or 1; null without any. */
export function shareInterval(scores: readonly number[]): Interval | null {
  const mean = meanOf(scores);
  if (mean === null) return null;
  const count = scores.length;
  const denominator = 1 + Z ** 2 / count;
  const centre = (mean + Z ** 2 / (2 * count)) / denominator;
  const half = (Z * Math.sqrt((mean * (1 - mean)) / count + Z ** 2 / (4 * count ** 2))) / denominator;
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

/** Returns the interval of a mean by Student's t distribution; null with fewer than two values. */
export function meanInterval(values: readonly number[]): Interval | null {
  const mean = meanOf(values);
  if (mean === null || values.length < 2) return null;
  const half = (tQuantile(RISK / 2, values.length - 1) * spreadOf(values)) / Math.sqrt(values.length);
  return [mean - half, mean + half];
}

/** Returns the p of the two-sided sign test. */
export function signTest(better: number, worse: number): number {
  const count = better + worse;
  let tail = 0;
  // Uses logarithms, since binomial coefficients of a few hundred questions overflow.
  let logTerm = -count * Math.LN2;
  for (let wins = 0; wins <= Math.min(better, worse); wins += 1) {
    tail += Math.exp(logTerm);
    logTerm += Math.log(count - wins) - Math.log(wins + 1);
  }
  return Math.min(1, 2 * tail);
}
