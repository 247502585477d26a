import type { Plan, PlanContext } from '../plan/plan';
import type { ConductorCard, ExternalCard, ModelCard } from './cards';
import type { SpendingLimits } from './messages';
import { CONDUCTOR_ID } from './names';

export type RunWorker = ModelCard | ExternalCard;

/** Limits of a run with everything below it; null: no such limit. */
export interface RunLimits extends SpendingLimits {
  /** Most steps of one plan. */
  readonly steps: number;
  readonly wallClockMs: number;
  /** How deep the Conductor may call itself; 0: not at all. */
  readonly depth: number | null;
  readonly approvalMs: number;
}

/**
 * The configuration that one run keeps from its first Conductor call to its end, whatever changes on disk meanwhile.
 * Keys are never in it, only the names of environment variables.
 */
export interface ResolvedRun {
  readonly conductor: ConductorCard;
  /** The workers this run may use, in the order of the configuration: the index is the plan's ordinal. */
  readonly workers: readonly RunWorker[];
  readonly limits: RunLimits;
  /** How the Conductor may call itself while depth remains: to review an answer, as a worker of its plan, or both. */
  readonly recursion: 'review' | 'worker' | 'both' | 'never';
  /** How soon a lost worker process is noticed, and a cancellation heard. */
  readonly heartbeatMs: number;
  /** Calls of a model go to `<task queue>-<provider>` instead of the run's own queue. */
  readonly queuePerProvider: boolean;
  /** Version of the estimators in `budget/worst-case.ts` that the run is reckoned by. @default 1 */
  readonly estimator?: number;
}

type RecursionRules = Pick<ResolvedRun, 'recursion'> & { readonly limits: Pick<RunLimits, 'depth'> };

/** Whether the Conductor may be given steps of its own plan, in a solve at this depth. */
export function mayCallItself({ recursion, limits }: RecursionRules, depth: number): boolean {
  return (recursion === 'worker' || recursion === 'both') && isDepthLeft(limits.depth, depth);
}

/** Whether the Conductor may review the answer of its own plan, in a solve at this depth. */
export function mayReview({ recursion, limits }: RecursionRules, depth: number): boolean {
  return (recursion === 'review' || recursion === 'both') && isDepthLeft(limits.depth, depth);
}

function isDepthLeft(most: number | null, depth: number): boolean {
  return most === null || depth < most;
}

/** The part of a run that the Conductor's prompt and the reading of its reply depend on. */
export interface PlanningRun {
  readonly conductor: ConductorCard;
  readonly workers: readonly Pick<RunWorker, 'id' | 'notes'>[];
  readonly limits: Pick<RunLimits, 'steps'>;
}

/** Context that judges a plan of a run; the Conductor, if it may be given steps, is the last ordinal. */
export function planContextOf(
  { workers, limits }: Pick<PlanningRun, 'workers' | 'limits'>,
  round: number,
  mayCallItself: boolean,
): PlanContext {
  const ids = workers.map(({ id }) => id);
  return { workers: mayCallItself ? [...ids, CONDUCTOR_ID] : ids, maxSteps: limits.steps, round };
}

/** The plan that runs when the Conductor wrote none: the first worker answers alone. */
export function standInPlan({ workers: [best] }: Pick<ResolvedRun, 'workers'>): Plan {
  return { steps: best ? [{ worker: best.id, subtask: 'Answer the question completely.', sees: [] }] : [] };
}
