import type { CallReservation } from '../budget/account';
import { workerPromptBytes } from '../budget/prompt-bytes';
import { answerRoom, worstCaseOf } from '../budget/worst-case';
import type { Step } from '../plan/plan';
import type { Reserved, VisibleStep, WorkerRequest, WorkerResult } from '../protocol/activity-contract';
import type { ModelCard, RunWorker } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import { CALL_WORKER, CONDUCTOR_ID } from '../protocol/names';
import type { EarlierCall, TakenTurn } from '../protocol/tool-use';
import { type CallFailure, readFailure, stepAnswered, stepFailed, stepStarted } from '../trace/events';
import { modelActivities, stepSummary } from './activities';
import { callItself } from './child';
import { callExternalWorker } from './external/external-worker';
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
    const loop = hasTools(worker, context.run) ? await ToolLoop.open(context, worker, ready.answers) : null;
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
  const whole = { ...request, ...told };
  return loop === null ? whole : { ...whole, toolTurn: loop.first(whole) };
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
  const { seed, live, maxAnswerTokens, traceparent } = input;
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
    traceparent,
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

function callWorker(context: RunContext, request: Reserved<WorkerRequest>): Promise<WorkerResult> {
  const { worker } = request;
  if (worker.kind !== 'model') return callExternalWorker(context, request, worker);
  const summary = stepSummary(request.step, request.subtask, `${worker.id} (${worker.model})`);
  // The history reader takes every call with a `WorkerRequest` for a step (rule 3 of `client/trace-reader.ts`).
  return modelActivities(context, worker, summary)[CALL_WORKER](request);
}
