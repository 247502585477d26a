import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { solvingDigestOf } from '../config/digest';
import { jsonBytes } from '../plan/plan';
import type { ConductorActivities } from '../protocol/activity-contract';
import { runSchema, workerSchema } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import type { Text } from '../protocol/text';
import {
  BOOK_CALL,
  CALL_TOOL,
  CALL_WORKER,
  CHECK_ANSWER,
  CHECK_ARGUMENTS,
  CHECK_RUN,
  KEEP_TEXT,
  LIST_TOOLS,
  READ_TEXT,
  RESOLVE_RUN,
  WRITE_PLAN,
} from '../protocol/names';
import type { Store } from '../store/store';
import { checkStoreId } from '../store/store-id';
import { keepText, readText } from '../store/texts';
import { asFailure } from './as-failure';
import { callWorker } from './call-worker';
import { checkAnswer } from './check-answer';
import { checkArguments } from './check-arguments';
import { checkRun, checkShape } from './check-run';
import type { Dependencies } from './send-request';
import { whileHeartbeating } from './heartbeat';
import { bookCall } from './ledger-row';
import { resolveForRun } from './resolve-for-run';
import { type OfRun, whileTraced } from './spans/call';
import { writePlan } from './write-plan';

export { checkRun, checkShape } from './check-run';
export { whileHeartbeating, withinLimit } from './heartbeat';
export { LiveLog } from './live-log';
export type { Dependencies, PolicyProvider } from './send-request';
export { startInRun, whileInSpan } from './spans/call';
export { createPacing } from './rate-limits/pacing';
export { createTools, type LookedTool, type Tools } from './tools';
export { withThoughtsApart } from './thoughts-apart';
export {
  activitiesOf,
  type CodeTool,
  type CodeTools,
  defineTool,
  type ToolContext,
  withCodeTools,
} from './tools/code-tools';

/** Creates the activities of a solve, ready to be registered on a worker. */
export function createActivities(dependencies: Dependencies): ConductorActivities {
  const { store, tools } = dependencies;
  /** Carries out work with the store in which its run began, or leaves it to a worker that has that one. */
  const inStore = <T>(storeId: string | undefined, work: () => T | Promise<T>): Promise<T> =>
    asFailure(async () => {
      await checkStoreId(store, storeId, 'worker');
      return work();
    });
  const call = <T extends object>(request: OfRun, work: () => Promise<T>): Promise<T> =>
    inStore(request.storeId, () => whileHeartbeating(() => whileTraced(request, work)));
  const digest = solvingDigestOf(dependencies.config);
  return {
    [RESOLVE_RUN]: (input) => asFailure(() => resolveForRun(dependencies, digest, input)),
    [CHECK_RUN]: (run, cards = []) =>
      asFailure(() => {
        checkShape(runSchema, run);
        for (const card of cards) checkShape(workerSchema, card);
        checkRun(dependencies, run);
      }),
    [WRITE_PLAN]: (request) => call(request, () => writePlan(dependencies, request)),
    [CALL_WORKER]: (request) => call(request, () => callWorker(dependencies, request)),
    [LIST_TOOLS]: (cards, storeId, before) =>
      inStore(storeId, () => whileHeartbeating(() => tools.list(cards, before))),
    [CHECK_ARGUMENTS]: (request) => inStore(request.storeId, () => checkArguments(store, request)),
    [CALL_TOOL]: (request) => call(request, () => tools.call(request)),
    [CHECK_ANSWER]: ({ result, ...request }) =>
      inStore(request.storeId, () => checkAnswer(store, request, result)),
    [BOOK_CALL]: (booked) => inStore(booked.storeId, () => bookCall(store, booked, activityInfo())),
    [KEEP_TEXT]: (text, inlineBytes, storeId) => inStore(storeId, () => keepText(store, text, inlineBytes)),
    [READ_TEXT]: (text, storeId) => inStore(storeId, () => readForResult(store, text)),
  };
}

/** Temporal limits a payload to 2 MB: one half is for the answer, the other for the trace around it. */
const MAX_ANSWER_BYTES = 1_000_000;

/** Loads an answer for a run's result. @throws ApplicationFailure `Store.TextTooLarge` if it would not fit */
async function readForResult(store: Store, text: Text): Promise<string> {
  const whole = await readText(store, text);
  const bytes = jsonBytes(whole);
  if (bytes <= MAX_ANSWER_BYTES) return whole;
  const message = `the answer takes ${bytes} bytes as JSON, over the ${MAX_ANSWER_BYTES} that a result has room for`;
  throw ApplicationFailure.nonRetryable(message, FAILURES.textTooLarge);
}
