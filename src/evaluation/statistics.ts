/** Fewer values say nothing of how much their mean may be chance, least of all where they happen to agree. */
export const FEWEST_VALUES = 5;

/** null without values. */
export function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** All that many judgements on one set of questions may err, together. */
const RISK = 0.05;

/**
 * How often the n-th judgement on one set of questions may err. Summed up over any number of them that is 5 % at most: so
 * the chance that any of them ever promotes what is no better stays below it, however they depend on each other.
 */
export function riskOf(judgement: number): number {
  return RISK / (judgement * (judgement + 1));
}

/**
 * The lower bound of a mean, one-sided, by Student's t distribution, which is wrong as often as `risk` says; null with too
 * few values for one. Values that are all the same are their own bound.
 */
export function lowerBound(values: readonly number[], risk: number): number | null {
  const mean = meanOf(values);
  if (mean === null || values.length < FEWEST_VALUES) return null;
  return mean - (tQuantile(risk, values.length - 1) * spreadOf(values)) / Math.sqrt(values.length);
}

export function upperBound(values: readonly number[], risk: number): number | null {
  const bound = lowerBound(
    values.map((value) => -value),
    risk,
  );
  return bound === null ? null : -bound;
}

/** Standard deviation, of two values at least. */
export function spreadOf(values: readonly number[]): number {
  const mean = meanOf(values) ?? 0;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/** A gain that is there is found four times out of five. */
const MISSED = 0.2;

/** The smallest gain that so many questions show, where their gains have this spread; null: they are too few for any. */
export function smallestGain(questions: number, spread: number, risk: number): number | null {
  if (questions < FEWEST_VALUES) return null;
  const degrees = questions - 1;
  return ((tQuantile(risk, degrees) + tQuantile(MISSED, degrees)) * spread) / Math.sqrt(questions);
}

const BISECTIONS = 60;

/** What a value of Student's t distribution exceeds as often as `risk` says, which is below a half. */
export function tQuantile(risk: number, degrees: number): number {
  let [low, high] = [0, 1];
  while (tTail(high, degrees) > risk) [low, high] = [high, 2 * high];
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (tTail(middle, degrees) > risk) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * How often a value lies above `t`, for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4). A library of
 * statistics would bring two hundred packages for this one number.
 */
function tTail(t: number, degrees: number): number {
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
