import type { Verdict } from '../grading/verdict';
import type { Plan } from '../plan/plan';

export interface JudgedRound {
  readonly plan: Plan | null;
  /** By step, as if its output had been the answer; null, or absent, where that is not known. */
  readonly outputs: readonly (Verdict | null)[];
  readonly answer: Verdict | null;
}

export interface JudgedRun {
  readonly rounds: readonly JudgedRound[];
  readonly answer: Verdict;
  /** The whole pool, with what each worker makes of the question alone; null where that is not known. */
  readonly pool: Readonly<Record<string, Verdict | null>>;
}

/** Kinds of failure, in the order in which pictures show them. */
export const FAILURES = [
  'format',
  'spoilt',
  'lost',
  'one worker',
  'wrong worker',
  'vain review',
  'unsolved',
] as const;

export type Failure = (typeof FAILURES)[number];

/**
 * By what a run failed; null where it did not, or where that is not known. The first of these that holds:
 *
 * - `format`: there was no plan, or the answer settles on nothing;
 * - `spoilt`: the answer was right before a review;
 * - `lost`: the output of a step was right, and the answer is not;
 * - `one worker`: two or more steps were all one worker's, and another might have been right alone;
 * - `wrong worker`: a worker of the pool is right alone and had no step;
 * - `vain review`: there was a review;
 * - `unsolved`: anything else.
 */
export function failureOf(run: JudgedRun): Failure | null {
  const { rounds, answer } = run;
  if (answer === 'correct' || answer === 'ungraded') return null;
  if (answer === 'unparseable' || rounds.some(({ plan }) => plan === null)) return 'format';
  if (rounds.some((round) => round.answer === 'correct')) return 'spoilt';
  if (rounds.some(({ outputs }) => outputs.includes('correct'))) return 'lost';
  return failureOfWorkers(run) ?? (rounds.length > 1 ? 'vain review' : 'unsolved');
}

function failureOfWorkers({ rounds, pool }: JudgedRun): Failure | null {
  const asked = rounds.flatMap(({ plan }) => plan?.steps.map(({ worker }) => worker) ?? []);
  const others = Object.entries(pool)
    .filter(([worker]) => !asked.includes(worker))
    .map(([, alone]) => alone);
  const isOne = asked.length > 1 && new Set(asked).size === 1;
  if (isOne && others.some((alone) => alone === null || alone === 'correct')) return 'one worker';
  return others.includes('correct') ? 'wrong worker' : null;
}
