import { ApplicationFailure } from '@temporalio/common';
import { asFailure } from '../as-failure';
import { isErrorLike } from '../models/error-like';
import { POLICY_FAILURES } from '../../training/policy-failures';

/**
 * Does work that asks a policy, and gives its errors their failure types, as every activity does; a time-out of its own is
 * a server that is away. A cancellation passes as it is.
 *
 * @param timeoutMs what the signal of the work allows it
 */
export async function asPolicyFailure<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await asFailure(work);
  } catch (error) {
    if (!isErrorLike(error) || error.name !== 'TimeoutError') throw error;
    throw ApplicationFailure.retryable(
      `the policy server gave no answer within ${timeoutMs / 1000} s: it may be busy; raise training.policy.timeout, ` +
        'or sample fewer plans at once',
      POLICY_FAILURES.unavailable,
    );
  }
}
