import { ApplicationFailure, CancellationScope, isCancellation } from '@temporalio/workflow';
import type { Plan, PlanContext } from '../plan/plan';
import { PlanError } from '../plan/plan-error';
import { validatePlan } from '../plan/validate';
import type { Problem, SolveTrace } from '../protocol/solve';
import { type CallFailureDetails, FAILURES, type FailureType } from '../protocol/failures';
import { type CallFailure, readFailure } from '../trace/events';

/** @throws ApplicationFailure of type `Plan.Invalid` for a plan that breaks a rule */
export function checkPlan(plan: unknown, context: PlanContext): Plan {
  try {
    return validatePlan(plan, context);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    throw ApplicationFailure.nonRetryable(error.message, FAILURES.planInvalid);
  }
}

/** Whether an error is this run's own cancellation, which every caller must rethrow. */
export function isOwnCancellation(error: unknown): error is Error {
  return isCancellation(error) && CancellationScope.current().consideredCancelled;
}

/** Reads a failed call. Rethrows this run's own cancellation. */
export function readCallFailure(error: unknown, who: string): CallFailure {
  if (isOwnCancellation(error)) throw error;
  return readFailure(error, who);
}

/** Waits for a result that the run needs. @throws ApplicationFailure of the type that the activity failed with */
export function orFail<Result>(asked: Promise<Result>): Promise<Result> {
  return asked.catch((error: unknown) => {
    const { problem } = readCallFailure(error, 'the worker');
    throw ApplicationFailure.nonRetryable(problem.message, problem.type);
  });
}

const MAY_HAVE_BEEN_BILLED: ReadonlySet<string> = new Set([
  FAILURES.timeout,
  FAILURES.interrupted,
  FAILURES.badResponse,
  FAILURES.workerLost,
]);

/** Whether another attempt may help. Temporal must not retry these failures itself, since they may cost money. */
export function mayRetryBilled({ type }: Problem): boolean {
  return MAY_HAVE_BEEN_BILLED.has(type);
}

export type StoppedBy = NonNullable<SolveTrace['stoppedBy']>;

const TYPES: Readonly<Record<StoppedBy, FailureType>> = {
  calls: FAILURES.callLimit,
  tokens: FAILURES.tokenLimit,
  cost: FAILURES.costLimit,
  wallClock: FAILURES.wallClock,
  approval: FAILURES.approvalLimit,
};

/** Returns the failure of a call that a limit forbids. It lists no request, so that nothing is charged for it. */
export function limitFailure(by: StoppedBy, message: string): ApplicationFailure {
  const at = now();
  const details: CallFailureDetails = { calls: [], startedAt: at, endedAt: at };
  return ApplicationFailure.create({ message, type: TYPES[by], nonRetryable: true, details: [details] });
}

export function limitIn(type: string): StoppedBy | null {
  const names = Object.keys(TYPES) as StoppedBy[];
  return names.find((by) => TYPES[by] === type) ?? null;
}

/**
 * Returns the time as traces hold it: ISO 8601 in UTC, deterministic inside a workflow. The history reader derives the
 * same times from workflow tasks (rule 5 of `client/trace-reader.ts`).
 */
export function now(): string {
  return new Date(Date.now()).toISOString();
}
