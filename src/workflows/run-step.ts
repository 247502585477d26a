import {
  ActivityCancellationType,
  CancellationScope,
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  patched,
  proxyActivities,
} from '@temporalio/workflow';
import type { CallReservation } from '../budget/account';
import { answerRoom, workerPromptBytes, worstCaseOf } from '../budget/worst-case';
import type { Step } from '../plan/plan';
import { readThoughts } from '../plan/thoughts/read-thoughts';
import type { Reserved, VisibleStep, WorkerRequest, WorkerResult } from '../protocol/activity-contract';
import type { Call, Usage } from '../protocol/solve';
import type { ExternalCard, ModelCard, RunWorker } from '../protocol/cards';
import { readExternalResult } from '../protocol/planning';
import { FAILURES } from '../protocol/failures';
import { BOOK_CALL, CALL_WORKER, CHECK_ANSWER, CONDUCTOR_ID, KEEP_TEXT } from '../protocol/names';
import { INLINE_BYTES, type Text } from '../protocol/text';
import type { EarlierCall, TakenTurn } from '../protocol/tool-use';
import {
  type CallFailure,
  externalAnswered,
  readFailure,
  stepAnswered,
  stepFailed,
  stepStarted,
  unaccountedCall,
} from '../trace/events';
import { modelActivities, stepSummary, storeActivities } from './activities';
import { callItself } from './child';
import { isOwnCancellation, mayRetryBilled, now } from './failures';
import { mayRecurse, type RunContext } from './run-context';
import { hasTools } from './tools/tool-box';
import { ToolLoop } from './tools/tool-loop';

/** How often one worker is asked again after a call that may have been billed without an answer. */
const MAX_PAID_RETRIES = 1;
/** Factor on the output limit of the one repeated call after a cut answer. */
const MORE_ROOM = 4;

interface ReadyStep {
  readonly step: number;
  readonly planned: Step;
  readonly sees: readonly VisibleStep[];
  /** See `stepsSharingPrompts`. */
  readonly sharesPrompt: boolean;
  /** Its output is the answer. */
  readonly answers: boolean;
}

/**
 * Runs one step: its worker, then each of its fallbacks until one answers; or a child workflow. Throws only the run's
 * own cancellation. A step that fails for good is recorded with its reason and an empty output.
 */
export async function runStep(whole: RunContext, step: ReadyStep): Promise<void> {
  const { payloads } = whole;
  const { planned, sees } = step;
  if (planned.worker === CONDUCTOR_ID && mayRecurse('worker', whole)) {
    const { answerSchema, input } = whole;
    const held = step.answers ? { answerSchema, maxAnswerTokens: input.maxAnswerTokens } : {};
    return callItself(whole, step.step, { subtask: planned.subtask, sees, ...held });
  }
  const isInline = payloads.takesInline([...whole.background, ...step.sees]);
  const context = isInline ? whole : { ...whole, background: await payloads.byReference(whole.background) };
  const ready = isInline ? step : { ...step, sees: await payloads.byReference(step.sees) };
  return runWorkers(context, ready);
}

/** Runs a step's worker, then each of its fallbacks until one answers. */
async function runWorkers(context: RunContext, ready: ReadyStep): Promise<void> {
  const workers = candidates(context, ready.planned.worker);
  const earlierCalls: EarlierCall[] = [];
  for (const [index, worker] of workers.entries()) {
    const loop = hasTools(worker, context.run) ? await ToolLoop.open(context, worker) : null;
    const asked = requestFor(context, ready, worker, index < workers.length - 1);
    let request: WorkerRequest | null = withTools(asked, loop, earlierCalls);
    // Not a function of its own: the SDK takes a stack trace of each promise that a workflow makes.
    for (let paidRetries = 0; request !== null; paidRetries += 1) {
      const ended = await makeCall(context, callOf(context, request, paidRetries));
      if (ended === null) return;
      if (loop !== null && 'ref' in ended) {
        request = { ...request, toolTurn: await loop.goOn(request, ended) };
        paidRetries = -1;
      } else request = afterFailure(request, ended, paidRetries);
    }
    earlierCalls.push(...(loop?.made ?? []));
  }
}

function withTools(
  request: WorkerRequest,
  loop: ToolLoop | null,
  earlierCalls: readonly EarlierCall[],
): WorkerRequest {
  const told = earlierCalls.length > 0 && { earlierCalls: [...earlierCalls] };
  return { ...request, ...(loop !== null && { toolTurn: loop.first }), ...told };
}

/** Returns the request to make after a failure, or null if the worker is not asked again. */
function afterFailure(
  request: WorkerRequest,
  ended: CallFailure | TakenTurn,
  paidRetries: number,
): WorkerRequest | null {
  return 'ref' in ended || paidRetries >= MAX_PAID_RETRIES ? null : retryOf(request, ended);
}

/** Makes each paid retry a call of its own. */
function callOf({ identity }: RunContext, request: WorkerRequest, paidRetries: number): WorkerRequest {
  const isRepeated = paidRetries > 0 && request.worker.kind !== 'model';
  return {
    ...request,
    identity: identity && `${identity}/${paidRetries}`,
    ...(isRepeated && { attempt: paidRetries + 1 }),
  };
}

/** Returns the request to repeat after one that may have been billed, or null if it would only fail again. */
function retryOf(request: WorkerRequest, { problem, details }: CallFailure): WorkerRequest | null {
  if (problem.type === FAILURES.answerInvalid) {
    const { toolTurn } = request;
    const failed = { reply: details?.partial ?? '', problem };
    return { ...request, failed, ...(toolTurn && { toolTurn: { ...toolTurn, mayCall: false } }) };
  }
  if (problem.type !== FAILURES.truncated) return mayRetryBilled(problem) ? request : null;
  return request.worker.kind === 'model' ? withMoreRoom(request, request.worker) : null;
}

function withMoreRoom(request: WorkerRequest, card: ModelCard): WorkerRequest | null {
  const { maxOutputTokens: before = card.maxOutputTokens, maxAnswerTokens = Infinity } = request;
  const most = Math.min(card.capabilities.maxOutputTokens ?? Infinity, maxAnswerTokens);
  const after = Math.min(before * MORE_ROOM, most);
  return after > before ? { ...request, maxOutputTokens: after } : null;
}

/**
 * Returns the planned worker and its fallbacks, as far as this run may use them. If the depth was lowered after the
 * plan was written, the first worker stands in for the Conductor.
 */
function candidates({ run }: RunContext, planned: string): readonly RunWorker[] {
  if (planned === CONDUCTOR_ID) return run.workers.slice(0, 1);
  const byId = new Map(run.workers.map((worker) => [worker.id, worker]));
  const ids = [planned, ...(byId.get(planned)?.fallback ?? [])];
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function requestFor(
  { input, question, conversation, answerSchema, round, rootId, background, run }: RunContext,
  { step, planned, sees, sharesPrompt, answers }: ReadyStep,
  worker: RunWorker,
  hasFallback: boolean,
): WorkerRequest {
  const { seed, live, maxAnswerTokens } = input;
  const held = answers ? { answerSchema, ...answerRoom(worker, maxAnswerTokens) } : {};
  const asked = { question, conversation, ...held };
  const request = { rootId, ...asked, subtask: planned.subtask, sees, round, step, worker };
  const isPlanned = worker.id === planned.worker;
  return {
    ...request,
    ...(isPlanned ? {} : { fallbackFor: planned.worker }),
    ...(hasFallback && { hasFallback }),
    ...(isPlanned && worker.kind === 'model' && sharesPrompt && { sharesPrompt }),
    ...(background.length > 0 && { background }),
    ...(live === true && worker.kind === 'model' && { live }),
    seed,
    storeId: run.storeId,
  };
}

/** Makes one call and records its outcome. Returns null if it was answered, or the turn that asks for tools. */
async function makeCall(
  context: RunContext,
  request: WorkerRequest,
): Promise<CallFailure | TakenTurn | null> {
  const { recorder, limits } = context;
  const worst = worstCaseOf(request.worker, workerPromptBytes(request), request.maxOutputTokens);
  recorder.record(stepStarted(request, now()));
  let reservation: CallReservation | null = null;
  try {
    reservation = limits.reserve(worst) ?? (await limits.waitFor(() => limits.reserve(worst)));
    const result = await callWorker(context, { ...request, allowance: reservation.allowance });
    reservation.settle(result.calls);
    recorder.record(stepAnswered(request, result));
    return result.turn ?? null;
  } catch (error) {
    const failure = readFailure(error, request.worker.id);
    const isCancelled = isOwnCancellation(error);
    // A call cut off by the end of the run looks like a slow worker; the real reason is the limit.
    const isCutOff = reservation !== null && limits.remainingMs() === 0 && !isCancelled;
    const reported = isCutOff ? { ...failure, problem: limits.outOfTime() } : failure;
    const event = stepFailed(request, reported, now());
    reservation?.settle(event.calls);
    recorder.record(event);
    if (isCancelled) throw error;
    return reported;
  }
}

/** How often Temporal attempts an external activity that fails; the activity can mark a failure as non-retryable. */
const EXTERNAL_ATTEMPTS = 3;

function callWorker(context: RunContext, request: Reserved<WorkerRequest>): Promise<WorkerResult> {
  const { worker } = request;
  if (worker.kind !== 'model') return callExternalWorker(context, request, worker);
  const summary = stepSummary(request.step, request.subtask, `${worker.id} (${worker.model})`);
  // The history reader takes every call with a `WorkerRequest` for a step (rule 3 of `client/trace-reader.ts`).
  return modelActivities(context, worker, summary)[CALL_WORKER](request);
}

async function callExternalWorker(
  context: RunContext,
  request: WorkerRequest,
  worker: ExternalCard,
): Promise<WorkerResult> {
  const startedAt = now();
  const { text, usage } = await booked(request, worker, async () =>
    readExternalResult(await runExternal(context, request, worker), worker),
  );
  // A run that began before thoughts were taken out goes on without that.
  const mayTakeOut = readThoughts(text).answer === text || patched(APART);
  const whole = externalAnswered(request, { text, usage }, { startedAt, endedAt: now() }, mayTakeOut);
  const keep = (kept: Text): Promise<Text> => keepIfLong(kept, request.storeId);
  const result = {
    ...whole,
    output: await keep(whole.output),
    ...(whole.thoughts !== undefined && { thoughts: await keep(whole.thoughts) }),
    endedAt: now(),
  };
  if (request.answerSchema === undefined) return result;
  // The history reader takes this result for that of the call before (rule 3 of `client/trace-reader.ts`).
  return storeActivities('check the answer')[CHECK_ANSWER]({ ...request, result });
}

/** Makes a priced call, with a ledger row opened before it. The row stays open if it cannot be completed. */
async function booked<Result extends { readonly usage: Usage | null }>(
  request: WorkerRequest,
  worker: ExternalCard,
  make: () => Promise<Result>,
): Promise<Result> {
  if (worker.price === undefined) return make();
  const startedAt = now();
  const { rootId, storeId } = request;
  const book = (call: Call, endedAt: string | null): Promise<void> =>
    storeActivities(`book the call of ${worker.id}`)[BOOK_CALL]({
      rootId,
      call,
      startedAt,
      endedAt,
      storeId,
    });
  const complete = (call: Call): Promise<void> =>
    CancellationScope.nonCancellable(() => book(call, now()).catch(() => undefined));
  await book(unaccountedCall(request, null, null), null);
  try {
    const result = await make();
    await complete(unaccountedCall(request, null, result.usage));
    return result;
  } catch (error) {
    const failure = readFailure(error, worker.id);
    const [call] = stepFailed(request, failure, now()).calls;
    await complete(call ?? { ...unaccountedCall(request, failure.problem, null), nanoUsd: 0 });
    throw error;
  }
}

async function runExternal(
  context: RunContext,
  request: WorkerRequest,
  worker: ExternalCard,
): Promise<unknown> {
  const { type, taskQueue } = worker;
  const timeout = Math.min(worker.timeoutMs, context.limits.remainingMs());
  const summary = stepSummary(request.step, request.subtask, `${worker.id} (${type})`);
  if (worker.kind === 'workflow') {
    return executeChild(type, {
      args: [request],
      taskQueue,
      workflowExecutionTimeout: timeout,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      // An agent may have to clean up: it is asked to stop, never terminated.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      staticSummary: summary,
    });
  }
  const activities = proxyActivities<Record<string, (request: WorkerRequest) => Promise<unknown>>>({
    taskQueue,
    scheduleToCloseTimeout: timeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: EXTERNAL_ATTEMPTS },
    summary,
  });
  return activities[type]?.(request);
}

/** Change: thoughts are taken out of what the user's own activities and workflows return. */
const APART = 'thoughts-apart';

async function keepIfLong(text: Text, storeId: string | undefined): Promise<Text> {
  // UTF-16 units take at most three UTF-8 bytes each: short enough without counting.
  if (typeof text !== 'string' || text.length * 3 <= INLINE_BYTES) return text;
  return storeActivities('keep a long output')[KEEP_TEXT](text, undefined, storeId);
}
