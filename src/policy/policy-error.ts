import { POLICY_FAILURES, type PolicyFailureType } from '../training/policy-failures';

/** A policy that could not be asked, or gave no answer. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';

  constructor(
    readonly type: PolicyFailureType,
    /** Who did what, and why; without a full stop. */
    readonly happened: string,
    /** What a person can do, in one sentence. */
    readonly remedy: string,
  ) {
    super(`${happened}. ${remedy}`);
  }

  /** Whether it may pass by itself. */
  get retryable(): boolean {
    return this.type === POLICY_FAILURES.unavailable;
  }
}
