import { POLICY_FAILURES, type PolicyFailureType } from '../training/policy-failures';

/** A policy that could not be asked, or gave no answer: what happened and what to do, in one or two sentences. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';

  constructor(
    readonly type: PolicyFailureType,
    message: string,
  ) {
    super(message);
  }

  /** Whether it may pass by itself. */
  get retryable(): boolean {
    return this.type === POLICY_FAILURES.unavailable;
  }
}
