import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { ConfigError } from '../config/errors';
import { withCallerTools } from '../config/caller-tools';
import { solvingDigestOf } from '../config/digest';
import { holdToRights, narrowRun, resolveRun } from '../config/resolve-run';
import type { Config } from '../config/schema';
import { jsonBytes } from '../plan/plan';
import type { ConductorActivities, ConfigDigest, ResolveRunResult } from '../protocol/activity-contract';
import { type ResolvedRun, runSchema, workerSchema } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import { type ConductorChange, type SolveInput, solveInputSchema } from '../protocol/input';
import type { Text } from '../protocol/text';
import {
  BOOK_CALL,
  CALL_TOOL,
  CALL_WORKER,
  CHECK_ANSWER,
  CHECK_RUN,
  KEEP_TEXT,
  LIST_TOOLS,
  READ_TEXT,
  RESOLVE_RUN,
  WRITE_PLAN,
} from '../protocol/names';
import type { Store } from '../store/store';
import { checkStoreId, idOfStore } from '../store/store-id';
import { keepText, readText } from '../store/texts';
import { asFailure } from './as-failure';
import { askedIn } from './keep-input';
import { callWorker } from './call-worker';
import { checkAnswer } from './check-answer';
import { checkRun, checkShape } from './check-run';
import type { Dependencies, PolicyProvider } from './send-request';
import { whileHeartbeating } from './heartbeat';
import { bookCall } from './ledger-row';
import { writePlan } from './write-plan';

export { checkRun, checkShape } from './check-run';
export { whileHeartbeating, withinLimit } from './heartbeat';
export { LiveLog } from './live-log';
export type { Dependencies, PolicyProvider } from './send-request';
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
  const digest = solvingDigestOf(dependencies.config);
  return {
    [RESOLVE_RUN]: (input) => asFailure(() => resolveForRun(dependencies, digest, input)),
    [CHECK_RUN]: (run, cards = []) =>
      asFailure(() => {
        checkShape(runSchema, run);
        for (const card of cards) checkShape(workerSchema, card);
        checkRun(dependencies, run);
      }),
    [WRITE_PLAN]: (request) =>
      inStore(request.storeId, () => whileHeartbeating(() => writePlan(dependencies, request))),
    [CALL_WORKER]: (request) =>
      inStore(request.storeId, () => whileHeartbeating(() => callWorker(dependencies, request))),
    [LIST_TOOLS]: (cards, storeId) => inStore(storeId, () => whileHeartbeating(() => tools.list(cards))),
    [CALL_TOOL]: (request) => inStore(request.storeId, () => whileHeartbeating(() => tools.call(request))),
    [CHECK_ANSWER]: ({ result, ...request }) =>
      inStore(request.storeId, () => checkAnswer(store, request, result)),
    [BOOK_CALL]: (booked) => inStore(booked.storeId, () => bookCall(store, booked, activityInfo())),
    [KEEP_TEXT]: (text, inlineBytes, storeId) => inStore(storeId, () => keepText(store, text, inlineBytes)),
    [READ_TEXT]: (text, storeId) => inStore(storeId, () => readForResult(store, text)),
  };
}

/** Fixes the settings of a run and its child runs, whatever changes on disk; clients do not see the configuration. */
async function resolveForRun(
  dependencies: Dependencies,
  digest: ConfigDigest,
  input: SolveInput,
): Promise<ResolveRunResult> {
  checkShape(solveInputSchema, input);
  const { pool, limits, run: given, conductor = {}, callerTools } = input;
  const { config, store, policy } = dependencies;
  if (given !== undefined) checkRun(dependencies, given);
  const known =
    given === undefined
      ? resolveRun(config, { pool, limits, conductor })
      : withNamed(narrowRun(given, { pool, limits }), config, conductor);
  const run = withCallerTools(known, config, callerTools);
  await checkStoreId(store, given?.storeId, 'worker');
  // A store that is away names no id now, and needs none: nothing is written to it either.
  const storeId = await idOfStore(store, 'make').catch(() => null);
  return {
    run: {
      ...holdToRights(await bindConductor(run, conductor, policy), input),
      ...(storeId !== null && { storeId }),
    },
    ...(given === undefined && { config: digest }),
    ...(await askedIn(store, input)),
  };
}

function withNamed(run: ResolvedRun, config: Config, conductor: ConductorChange): ResolvedRun {
  return conductor.name === undefined
    ? run
    : { ...run, conductor: resolveRun(config, { conductor }).conductor };
}

async function bindConductor(
  run: ResolvedRun,
  { checkpoint, examples, access }: ConductorChange,
  policy: PolicyProvider | undefined,
): Promise<ResolvedRun> {
  if (checkpoint !== undefined && policy === undefined) {
    throw new ConfigError(
      `the run asks for the checkpoint ${checkpoint}, and ConductorPlugin serves no checkpoints: mount TrainingPlugin of ` +
        'temporal-conductor/training instead, or add a section "training:" to the configuration of the command line',
    );
  }
  const named = policy === undefined ? run : await policy.bind(run, checkpoint);
  const bound = access === undefined ? named : { ...named, conductor: { ...named.conductor, access } };
  if (examples === undefined) return bound;
  if (bound.conductor.prompt !== 'compact') return { ...bound, conductor: { ...bound.conductor, examples } };
  throw new ConfigError(
    `the run asks for other examples, and the prompt of checkpoint ${bound.conductor.checkpoint ?? ''} is compact: it shows none`,
  );
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
