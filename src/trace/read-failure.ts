import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/common';
import type { Problem } from '../protocol/call';
import { type CallFailureDetails, FAILURES } from '../protocol/failures';
import type { SolveTrace } from '../protocol/solve';

/** What a failed activity or child says of itself. */
export interface CallFailure {
  readonly problem: Problem;
  /** null where the failure was not of our making, e.g. a time-out set by the server. */
  readonly details: CallFailureDetails | null;
}

/** @param who the worker, for messages of failures that carry none of our own */
export function readFailure(error: unknown, who: string): CallFailure {
  const wrapped = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  const cause = wrapped ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    return { problem: { type: cause.type ?? 'Error', message: cause.message }, details: detailsOf(cause) };
  }
  if (cause instanceof TimeoutFailure) {
    const message = `worker ${who} gave no result in time (${cause.timeoutType}); whether it was billed is unknown`;
    return { problem: { type: FAILURES.timeout, message }, details: null };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return { problem: { type: 'Error', message: `worker ${who} failed: ${message}` }, details: null };
}

function detailsOf(failure: ApplicationFailure): CallFailureDetails | null {
  const details: unknown = failure.details?.[0];
  const isOurs =
    typeof details === 'object' && details !== null && 'calls' in details && 'endedAt' in details;
  return isOurs ? (details as CallFailureDetails) : null;
}

/** The trace that a failed solve left in its failure's details; null where it vanished without leaving one. */
export function traceIn(error: unknown): SolveTrace | null {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : null;
  const isTrace =
    typeof details === 'object' && details !== null && 'rounds' in details && 'calls' in details;
  return isTrace ? (details as SolveTrace) : null;
}
