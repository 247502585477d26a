import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { Problem } from '../protocol/call';
import { FAILURES } from '../protocol/failures';
import { readFailure, type CallFailure } from '../trace/read-failure';

/** Whether an error is this run's own cancellation, which everybody must let pass. */
export function isOwnCancellation(error: unknown): boolean {
  return isCancellation(error) && CancellationScope.current().consideredCancelled;
}

/** Reads a failed call; throws it on when it is this run's own cancellation. */
export function readCallFailure(error: unknown, who: string): CallFailure {
  if (isOwnCancellation(error)) throw error;
  return readFailure(error, who);
}

const MAY_HAVE_BEEN_BILLED: ReadonlySet<string> = new Set([
  FAILURES.timeout,
  FAILURES.interrupted,
  FAILURES.badResponse,
  FAILURES.workerLost,
]);

/** Failures that another try may mend, but that Temporal must not repeat by itself, since they may cost money. */
export function mayBeBoughtAgain({ type }: Problem): boolean {
  return MAY_HAVE_BEEN_BILLED.has(type);
}
