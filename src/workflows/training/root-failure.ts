import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure } from '@temporalio/common';

/** What failed at the bottom, and in which words. */
export interface RootFailure {
  /** Of an application failure; else null, for a time-out, say. */
  readonly type: string | null;
  readonly message: string;
}

/** Looks through the failures of activities and children, whose own words tell no more than that they failed. */
export function rootFailure(error: unknown): RootFailure {
  const isWrapper = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  if (isWrapper && error.cause !== undefined) return rootFailure(error.cause);
  const type = error instanceof ApplicationFailure ? (error.type ?? null) : null;
  return { type, message: error instanceof Error ? error.message : String(error) };
}
