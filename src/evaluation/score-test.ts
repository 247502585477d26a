import {
  bisect,
  type Interval,
  MISSED,
  RISK,
  smallestGain,
  tQuantile,
  tTail,
} from '../statistics/statistics';

/** Verdicts of two methods on the same questions. */
export interface Study {
  /** Questions that only the first method answered correctly; `worse`: only the second. */
  readonly better: number;
  readonly worse: number;
  readonly questions: number;
}

const POWER = 1 - MISSED;

/**
 * Returns Tango's score interval for a difference of paired proportions (Statistics in Medicine 17, 1998): all
 * differences that the score test does not reject. Student's t distribution replaces the normal one, with which the
 * interval is slightly too narrow for few questions.
 */
export function scoreInterval(study: Study): Interval {
  if (study.questions < 2) return [-1, 1];
  const observed = (study.better - study.worse) / study.questions;
  const most = furthest(study.questions);
  const boundTowards = (end: number): number =>
    bisect(observed, end, 50, (supposed) => Math.abs(scoreOf(study, supposed)) <= most);
  return [boundTowards(-1), boundTowards(1)];
}

/** Returns the distance of the observed difference from a supposed one, in standard errors. */
function scoreOf({ better, worse, questions }: Study, supposed: number): number {
  // Maximum-likelihood share of questions that only the second method gets right, given `supposed`.
  const b = (2 * questions - better + worse) * supposed - better - worse;
  const c = -worse * supposed * (1 - supposed);
  const share = (Math.sqrt(Math.max(0, b ** 2 - 8 * questions * c)) - b) / (4 * questions);
  const variance = questions * (2 * share + supposed * (1 - supposed));
  const distance = better - worse - questions * supposed;
  return variance > 0 ? distance / Math.sqrt(variance) : distance === 0 ? 0 : Math.sign(distance) * Infinity;
}

/** Returns the distance in standard errors up to which a difference counts as chance. */
function furthest(questions: number): number {
  return tQuantile(RISK / 2, questions - 1);
}

/** Returns the p of McNemar's test, the score test of no difference, which agrees with the interval above. */
export function scoreTest(study: Study): number {
  if (study.questions < 2) return 1;
  return Math.min(1, Math.max(0, 2 * tTail(Math.abs(scoreOf(study, 0)), study.questions - 1)));
}

/** With more questions, `smallestGain` is as accurate, and sums over all outcomes take long. */
const MOST_SUMMED = 2_000;

/**
 * Returns the smallest difference that the test above detects with a power of 80 % if the methods differ on this
 * share of the questions, summed over all outcomes; null if so few questions cannot show any difference.
 */
export function smallestFound(questions: number, discordant: number): number | null {
  // With no discordant pairs, assume a rate of 3/n (rule of three).
  const share = Math.min(1, Math.max(discordant, 3 / questions));
  if (questions > MOST_SUMMED) return smallestGain(questions, Math.sqrt(share), RISK / 2);
  if (questions < 2 || powerOf(questions, 1, 1) < POWER) return null;
  return bisect(0, 1, 20, (gain) => powerOf(questions, Math.max(share, gain), gain) < POWER);
}

/** Returns the probability that the test detects a gain if the methods differ on a share of the questions. */
export function powerOf(questions: number, share: number, gain: number): number {
  const isBetter = (share + gain) / (2 * share);
  const most = furthest(questions);
  let power = 0;
  for (const [count, chance] of likelyCounts(questions, share)) {
    for (const [better, among] of likelyCounts(count, isBetter)) {
      if (2 * better - count > most * Math.sqrt(count)) power += chance * among;
    }
  }
  return power;
}

/** Returns the counts within seven standard deviations of the mean, each with its binomial probability. */
function likelyCounts(trials: number, share: number): (readonly [count: number, chance: number])[] {
  if (share >= 1 || share <= 0) return [[share >= 1 ? trials : 0, 1]];
  const reach = 7 * Math.sqrt(trials * share * (1 - share)) + 2;
  const least = Math.max(0, Math.floor(trials * share - reach));
  const most = Math.min(trials, Math.ceil(trials * share + reach));
  let log = logChoices(trials, least) + least * Math.log(share) + (trials - least) * Math.log(1 - share);
  const counts: (readonly [number, number])[] = [];
  for (let count = least; count <= most; count += 1) {
    counts.push([count, Math.exp(log)]);
    log += Math.log((trials - count) / (count + 1)) + Math.log(share / (1 - share));
  }
  return counts;
}

function logChoices(of: number, chosen: number): number {
  let log = 0;
  for (let place = 1; place <= chosen; place += 1) log += Math.log((of - chosen + place) / place);
  return log;
}
