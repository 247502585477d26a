import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/common';

const WRAPPERS = [ActivityFailure, ChildWorkflowFailure, TimeoutFailure];

/** What failed at the bottom, and in which words. */
export interface RootFailure {
  /** Of an application failure; else null, for a time-out, say. */
  readonly type: string | null;
  readonly message: string;
}

/**
 * Looks through the failures of activities and children, whose own words tell no more than that they failed, and through
 * time that ran out, to what had kept failing until then.
 */
export function rootFailure(error: unknown): RootFailure {
  if (WRAPPERS.some((wrapper) => error instanceof wrapper)) {
    const { cause } = error as Error;
    if (cause !== undefined) return rootFailure(cause);
  }
  const type = error instanceof ApplicationFailure ? (error.type ?? null) : null;
  return { type, message: error instanceof Error ? error.message : String(error) };
}
