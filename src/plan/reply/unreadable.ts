import type { PlanErrorCode } from '../plan-error';

/**
 * Why a list cannot be read. It stays inside this folder and becomes a `PlanError` only if it decides the outcome: a
 * message shows the line at fault, and to look for the line of each of many broken drafts would take quadratic time.
 */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';

  constructor(
    readonly code: PlanErrorCode,
    readonly problem: string,
    /** Where in the reply. */
    readonly at: number,
  ) {
    super(problem);
  }
}
