import { ApplicationFailure } from '@temporalio/activity';
import { solvingDigestOf } from '../config/digest';
import { narrowRun, resolveRun } from '../config/resolve-run';
import { jsonBytes } from '../plan/plan';
import type { ConductorActivities, ResolveRunRequest, ResolveRunResult } from '../protocol/activities';
import { FAILURES } from '../protocol/failures';
import type { Text } from '../protocol/text';
import { CALL_WORKER, CHECK_RUN, KEEP_TEXT, READ_TEXT, RESOLVE_RUN, WRITE_PLAN } from '../protocol/names';
import type { Store } from '../store/store';
import { keepText, readText } from '../store/texts';
import { asFailure } from './as-failure';
import { callWorker } from './call-worker';
import { checkRun } from './check-run';
import type { Dependencies } from './dependencies';
import { whileHeartbeating } from './heartbeat';
import { writePlan } from './write-plan';

export { asFailure };

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
    [READ_TEXT]: (text) => asFailure(() => readForResult(store, text)),
  };
}

/**
 * What holds for a run and everything below it, whatever changes on disk meanwhile. The workflow cannot know it: any
 * client may start a run, and none of them sees this configuration.
 */
async function resolveForRun(
  { config, earlier = [], store, policy }: Dependencies,
  { question, pool, limits, run: given }: ResolveRunRequest,
): Promise<ResolveRunResult> {
  const whole = await readText(store, question);
  if (given === undefined) {
    const run = resolveRun(config, { pool, limits });
    return {
      run: policy === undefined ? run : await policy.bind(run),
      config: solvingDigestOf(config),
      question: await keepText(store, whole),
    };
  }
  checkRun([config, ...earlier], given);
  const run = narrowRun(given, { pool, limits });
  const isOpen = run.conductor.provider === 'policy' && run.conductor.checkpoint === undefined;
  return {
    run: isOpen && policy !== undefined ? await policy.bind(run) : run,
    question: await keepText(store, whole),
  };
}

/** A payload of Temporal's may have 2 MB: half of one for the answer, the other half for the trace around it. */
const MAX_ANSWER_BYTES = 1_000_000;

/** Loads an answer for a run's result; one that would not fit stays where it is. */
async function readForResult(store: Store, text: Text): Promise<string> {
  const whole = await readText(store, text);
  const bytes = jsonBytes(whole);
  if (bytes <= MAX_ANSWER_BYTES) return whole;
  const message = `the answer takes ${bytes} bytes as JSON, over the ${MAX_ANSWER_BYTES} that a result has room for`;
  throw ApplicationFailure.nonRetryable(message, FAILURES.textTooLarge);
}
