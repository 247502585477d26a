import { ApplicationFailure } from '@temporalio/common';
import { isErrorLike } from '../models/error-like';
import { PolicyError } from '../../policy/policy-error';
import { POLICY_FAILURES } from '../../training/policy-failures';

/**
 * Does work that asks a policy, and gives its errors the failure types of `POLICY_FAILURES`; anything else passes as it
 * is, a cancellation too.
 *
 * @param timeoutMs what the signal of the work allows it
 */
export async function asPolicyFailure<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PolicyError) {
      const { message, type, retryable } = error;
      throw ApplicationFailure.create({ message, type, nonRetryable: !retryable });
    }
    if (!isErrorLike(error) || error.name !== 'TimeoutError') throw error;
    throw ApplicationFailure.retryable(
      `the policy server gave no answer within ${timeoutMs / 1000} s: it may be busy; raise training.policy.timeout, ` +
        'or sample fewer plans at once',
      POLICY_FAILURES.unavailable,
    );
  }
}
