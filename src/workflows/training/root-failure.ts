import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/common';

/** What failed at the bottom, and in which words. */
export interface RootFailure {
  /** Of an application failure; else null, for a time-out, say. */
  readonly type: string | null;
  readonly message: string;
}

/**
 * Looks through the failures of activities and children, whose own words tell no more than that they failed, and through
 * time that ran out, to what had kept failing until then. Where nothing had, what it ran out for is named.
 */
export function rootFailure(error: unknown): RootFailure {
  if (error instanceof ActivityFailure && error.cause instanceof TimeoutFailure) {
    return lastFailure(error.cause) ?? { type: null, message: outOfTime(error, error.cause) };
  }
  const isWrapper = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  if (isWrapper && error.cause !== undefined) return rootFailure(error.cause);
  const type = error instanceof ApplicationFailure ? (error.type ?? null) : null;
  return { type, message: error instanceof Error ? error.message : String(error) };
}

/** The server tells it with the time-out; the SDK hands it on in the server's own form alone. */
function lastFailure({ failure }: TimeoutFailure): RootFailure | null {
  const { message, applicationFailureInfo } = failure?.cause ?? {};
  if (message === undefined || message === null) return null;
  return { type: applicationFailureInfo?.type ?? null, message };
}

function outOfTime({ activityType }: ActivityFailure, { message }: TimeoutFailure): string {
  return `${activityType} was not done in time: ${message}`;
}
