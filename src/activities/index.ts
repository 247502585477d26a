import { ApplicationFailure } from '@temporalio/activity';
import { ConductorError } from '../conductor-error';
import { solvingDigestOf } from '../config/digest';
import { resolveRun } from '../config/resolve-run';
import type { ConductorActivities, ResolveRunRequest, ResolveRunResult } from '../protocol/activities';
import { FAILURES, type FailureType } from '../protocol/failures';
import { CALL_WORKER, CHECK_RUN, KEEP_TEXT, READ_TEXT, RESOLVE_RUN, WRITE_PLAN } from '../protocol/names';
import { keepText, readText } from '../store/texts';
import { callWorker } from './call-worker';
import { checkRun } from './check-run';
import type { Dependencies } from './dependencies';
import { whileHeartbeating } from './heartbeat';
import { isErrorLike } from './models/http-error';
import { writePlan } from './write-plan';

/** The side effects of a solve, ready to be registered on a worker. */
export function createActivities(dependencies: Dependencies): ConductorActivities {
  const { store } = dependencies;
  return {
    [RESOLVE_RUN]: (request) => asFailure(() => resolveForRun(dependencies, request)),
    [CHECK_RUN]: (run) =>
      asFailure(() => {
        checkRun([dependencies.config, ...(dependencies.earlier ?? [])], run);
        return Promise.resolve();
      }),
    [WRITE_PLAN]: (request) => asFailure(() => whileHeartbeating(() => writePlan(dependencies, request))),
    [CALL_WORKER]: (request) => asFailure(() => whileHeartbeating(() => callWorker(dependencies, request))),
    [KEEP_TEXT]: (text) => asFailure(() => keepText(store, text)),
    [READ_TEXT]: (text) => asFailure(() => readText(store, text)),
  };
}

/**
 * What holds for a run and everything below it, whatever changes on disk meanwhile. The workflow cannot know it: any
 * client may start a run, and none of them sees this configuration.
 */
async function resolveForRun(
  { config, store, policy }: Dependencies,
  { question, pool, limits }: ResolveRunRequest,
): Promise<ResolveRunResult> {
  const run = resolveRun(config, { pool, limits });
  return {
    run: policy === undefined ? run : await policy.bind(run),
    config: solvingDigestOf(config),
    question: await keepText(store, await readText(store, question)),
  };
}

/** By the error's code: trying again helps against none of them. */
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
    if (isOfStore(error))
      throw ApplicationFailure.create({ message: error.message, type: FAILURES.storeUnavailable });
    const type = error instanceof ConductorError ? FINAL_TYPES.get(error.code) : undefined;
    if (type === undefined) throw error;
    throw ApplicationFailure.nonRetryable((error as Error).message, type);
  }
}

/** A system's error, or one that a driver made of it: all else that a call may meet has a name of its own. */
function isOfStore(error: unknown): error is Error {
  return isErrorLike(error) && error.name === 'Error' && ('code' in error || 'cause' in error);
}
