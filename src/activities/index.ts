import { ApplicationFailure } from '@temporalio/activity';
import { ConfigError, MissingKeyError } from '../config/errors';
import type { ConductorActivities } from '../protocol/activities';
import { FAILURES, type FailureType } from '../protocol/failures';
import { CALL_WORKER, KEEP_TEXT, READ_TEXT, RESOLVE_RUN, WRITE_PLAN } from '../protocol/names';
import { keepText, readText, TextNotFoundError, TextTooLargeError } from '../store/texts';
import { PolicyError } from '../training/policy/errors';
import { callWorker } from './call-worker';
import type { Dependencies } from './dependencies';
import { resolveRun } from './resolve-run';
import { writePlan } from './write-plan';

/** The side effects of a solve, ready to be registered on a worker. */
export function createActivities(dependencies: Dependencies): ConductorActivities {
  const { store } = dependencies;
  return {
    [RESOLVE_RUN]: (request) => asFailure(() => resolveRun(dependencies, request)),
    [WRITE_PLAN]: (request) => asFailure(() => writePlan(dependencies, request)),
    [CALL_WORKER]: (request) => asFailure(() => callWorker(dependencies, request)),
    [KEEP_TEXT]: (text) => asFailure(() => keepText(store, text)),
    [READ_TEXT]: (text) => asFailure(() => readText(store, text)),
  };
}

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
