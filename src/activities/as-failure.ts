import { ApplicationFailure } from '@temporalio/activity';
import { ConfigError, MissingKeyError } from '../pool/config-error';
import { FAILURES, type FailureType } from '../protocol/failures';
import { TextNotFoundError, TextTooLargeError } from '../store/texts';

/** Gives our own errors their failure type, and says of each that trying again would not help. */
export async function asFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
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
