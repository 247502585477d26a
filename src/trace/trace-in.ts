import { ApplicationFailure, ChildWorkflowFailure } from '@temporalio/common';
import type { SolveTrace } from '../protocol/solve';

/** The trace that a failed solve left in its failure's details; null where it vanished without leaving one. */
export function traceIn(error: unknown): SolveTrace | null {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  const details: unknown = cause instanceof ApplicationFailure ? cause.details?.[0] : null;
  const isTrace =
    typeof details === 'object' && details !== null && 'rounds' in details && 'calls' in details;
  return isTrace ? (details as SolveTrace) : null;
}
