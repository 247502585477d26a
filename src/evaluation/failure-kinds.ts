import type { Verdict } from '../grading/verdict';
import type { Plan } from '../plan/plan';

export interface JudgedRun {
  readonly rounds: readonly {
    readonly plan: Plan | null;
    /** Verdict on each step's output as if it were the answer; null or absent if unknown. */
    readonly outputs: readonly (Verdict | null)[];
    readonly answer: Verdict | null;
  }[];
  readonly answer: Verdict;
  /** Verdict on the answer of each worker of the pool alone; null if unknown. */
  readonly pool: Readonly<Record<string, Verdict | null>>;
}

/** Kinds of failure, in the order in which charts and tables show them. */
export const FAILURE_KINDS = [
  'format',
  'spoilt',
  'lost',
  'one worker',
  'wrong worker',
  'vain review',
  'unsolved',
] as const;

export type Failure = (typeof FAILURE_KINDS)[number];

/**
 * Returns the reason a run failed, or null if it did not fail or was not graded. The first match wins:
 *
 * - `format`: there was no plan, or the answer is unparseable;
 * - `spoilt`: the answer was right before a review;
 * - `lost`: the output of a step was right, but the answer is not;
 * - `one worker`: two or more steps all went to one worker, and another one alone might have been right;
 * - `wrong worker`: a worker of the pool is right alone but had no step;
 * - `vain review`: a review did not help;
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
