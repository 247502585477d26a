import { ApplicationFailure } from '@temporalio/activity';
import { PolicyError } from '../policy/policy-error';
import { ConfigError, MissingKeyError } from '../pool/config-error';
import { FAILURES, type FailureType } from '../protocol/failures';
import { TextNotFoundError, TextTooLargeError } from '../store/texts';

/** Gives our own errors their failure type, and says of each whether trying again can help. */
export async function asFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PolicyError) {
      const { message, type, retryable } = error;
      throw ApplicationFailure.create({ message, type, nonRetryable: !retryable });
    }
    const type = finalTypeOf(error);
    if (type === null || !(error instanceof Error)) throw error;
    throw ApplicationFailure.nonRetryable(error.message, type);
  }
}

function finalTypeOf(error: unknown): FailureType | null {
  if (error instanceof MissingKeyError) return FAILURES.authentication;
  if (error instanceof ConfigError) return FAILURES.configuration;
  if (error instanceof TextTooLargeError) return FAILURES.textTooLarge;
  if (error instanceof TextNotFoundError) return FAILURES.textNotFound;
  return null;
}
