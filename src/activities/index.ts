import { ApplicationFailure } from '@temporalio/activity';
import type { ConductorActivities } from '../protocol/activities';
import { ConductorError } from '../protocol/errors';
import { FAILURES, type FailureType } from '../protocol/failures';
import { CALL_WORKER, KEEP_TEXT, READ_TEXT, RESOLVE_RUN, WRITE_PLAN } from '../protocol/names';
import { keepText, readText } from '../store/texts';
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

/** By the error's code: trying again can help against none of them. */
const FINAL_TYPES: ReadonlyMap<string, FailureType> = new Map([
  ['MissingKey', FAILURES.authentication],
  ['Configuration', FAILURES.configuration],
  ['TextTooLarge', FAILURES.textTooLarge],
  ['TextNotFound', FAILURES.textNotFound],
]);

/** Gives our own errors their failure type, and says of each whether trying again can help. */
export async function asFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConductorError)) throw error;
    const type = FINAL_TYPES.get(error.code);
    if (type === undefined) throw error;
    throw ApplicationFailure.nonRetryable(error.message, type);
  }
}
