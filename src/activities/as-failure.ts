import { ApplicationFailure } from '@temporalio/activity';
import { ConductorError } from '../conductor-error';
import { type CallFailureDetails, FAILURES, type FailureType } from '../protocol/failures';
import { isErrorLike } from './models/http-error';

/** By the error's code: trying again helps against none of them. */
const FINAL_TYPES: ReadonlyMap<string, FailureType> = new Map([
  ['MissingKey', FAILURES.authentication],
  ['Configuration', FAILURES.configuration],
  ['TextTooLarge', FAILURES.textTooLarge],
  ['TextNotFound', FAILURES.textNotFound],
]);

/**
 * Gives our own errors their failure type, and says of each whether trying again can help.
 *
 * @param details what was sent for the call before, where that is known: a failure without it counts as one request
 */
export async function asFailure<T>(work: () => T | Promise<T>, details?: CallFailureDetails): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isOfStore(error))
      throw ApplicationFailure.create({ message: error.message, type: FAILURES.storeUnavailable });
    const type = error instanceof ConductorError ? FINAL_TYPES.get(error.code) : undefined;
    if (type === undefined) throw error;
    const { message } = error as Error;
    throw ApplicationFailure.nonRetryable(message, type, ...(details === undefined ? [] : [details]));
  }
}

/** A system's error, or one that a driver made of it: all else that a call may meet has a name of its own. */
function isOfStore(error: unknown): error is Error {
  return isErrorLike(error) && error.name === 'Error' && ('code' in error || 'cause' in error);
}
