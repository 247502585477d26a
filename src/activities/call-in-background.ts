import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, Context, type Info } from '@temporalio/activity';
import type { Problem } from '../protocol/call';
import { FAILURES, type FailureType } from '../protocol/failures';
import { keepBegun, type LedgerRow } from '../store/ledger';
import type { Dependencies } from './dependencies';
import { delayed, timeLimit, untilWritten } from './heartbeat';
import type { ModelCall } from './model-call';
import { diagnose, type Diagnosis, type ProviderFailureType } from './models/diagnose';
import { type CallContext, describeFailure, judgeReply } from './models/failure';
import type { BackgroundCalls, ModelReply, ModelRequest, Progress } from './models/model';
import { brokenBy, brokenOff, contextOf, requestOf, type SentRequest } from './send-request';

/** How long a request to begin an answer may go on after a cancellation: without its id nothing can be stopped. */
const BEGIN_GRACE_MS = 10_000;
const LOOK_MS = 30_000;
const CANCEL_MS = 10_000;

/** An answer by the row it is paid under; `id` is null while the vendor has not been asked for it. */
export interface BackgroundAnswer {
  readonly row: LedgerRow;
  readonly id: string | null;
}

/** This process stopped waiting, and the vendor goes on: the next attempt comes for the same answer. */
export interface LeftRunning {
  readonly kind: 'left-running';
  readonly problem: Problem;
  /** When the vendor wants to be asked again; null where it did not say. */
  readonly nextRetryDelayMs: number | null;
}

interface Wait {
  readonly background: BackgroundCalls;
  /** When the answer was started, in epoch milliseconds. */
  readonly begunAt: number;
  /** Its signal aborts when the time of the card or of the run is over, whichever process began the answer. */
  readonly context: CallContext;
  readonly cancellation: AbortSignal;
  readonly requestWith: (signal: AbortSignal) => ModelRequest;
}

/**
 * Has an answer written in the background and waits for its end. One that an earlier attempt began is
 * waited for, and not bought again.
 *
 * The id is kept before the first look, and a look that fails ends nothing. Never throws for what the provider does.
 */
export async function callInBackground(
  { background, store }: Pick<Dependencies, 'background' | 'store'>,
  call: ModelCall,
  apiKey: string | null,
  { row, id }: BackgroundAnswer,
): Promise<SentRequest | LeftRunning> {
  const { callId, attempt } = row;
  const begunAt = Date.parse(row.startedAt);
  const timeoutMs = allowedMs(begunAt, call.timeoutMs, activityInfo());
  const limit = timeLimit(Math.max(0, begunAt + timeoutMs - Date.now()));
  const wait: Wait = {
    background,
    begunAt,
    context: { ...contextOf(call, apiKey, limit), timeoutMs },
    cancellation: Context.current().cancellationSignal,
    requestWith: (signal) => requestOf(call, { apiKey, callId }, signal),
  };
  if (id !== null) return follow(wait, id, null);
  let begun: Awaited<ReturnType<BackgroundCalls['begin']>>;
  try {
    begun = await begin(wait);
  } catch (error) {
    return brokenBy(error, wait.context, wait.cancellation);
  }
  await untilWritten(() => keepBegun(store, { callId, attempt, id: begun.id }));
  return follow(wait, begun.id, begun.progress);
}

/** Starts the answer. A cancellation stops that only after a while, so that there is an id to stop the rest by. */
function begin({
  background,
  context,
  cancellation,
  requestWith,
}: Wait): ReturnType<BackgroundCalls['begin']> {
  const signal = AbortSignal.any([context.signal, delayed(cancellation, BEGIN_GRACE_MS)]);
  return background.begin(requestWith(signal));
}

async function follow(wait: Wait, id: string, known: Progress | null): Promise<SentRequest | LeftRunning> {
  const { begunAt, cancellation, context } = wait;
  const signal = AbortSignal.any([cancellation, context.signal]);
  try {
    let progress = known ?? (await look(wait, id));
    while (progress.status === 'running') {
      await sleep(pauseMs(Date.now() - begunAt), undefined, { signal });
      progress = await look(wait, id);
    }
    return settleBackground(progress, context);
  } catch (error) {
    return stopWaiting(wait, id, error);
  }
}

/** Not bound by the call's own time: an answer that is there is taken, however late. */
function look({ background, cancellation, requestWith }: Wait, id: string): Promise<Progress> {
  const signal = AbortSignal.any([cancellation, timeLimit(LOOK_MS)]);
  return background.look(requestWith(signal), id);
}

/** No other look would mend these, only a person. */
const HOPELESS: ReadonlySet<FailureType> = new Set([
  FAILURES.authentication,
  FAILURES.badRequest,
  FAILURES.notFound,
  FAILURES.quotaExceeded,
]);

/**
 * Decides what becomes of an answer when waiting for it was broken off by an error, a cancellation or a time-out.
 *
 * The vendor is asked to stop where no one will come back: the run is cancelled, or its or the card's time is over. A
 * process that ends, or has lost touch with the server, leaves the answer alone: another may be waiting already.
 */
async function stopWaiting(wait: Wait, id: string, error: unknown): Promise<SentRequest | LeftRunning> {
  const { context, cancellation } = wait;
  if (Context.current().cancellationDetails?.cancelRequested === true) {
    return brokenOff(replyIn(await cancel(wait, id)));
  }
  if (context.signal.aborted) {
    const last = await cancel(wait, id);
    // Finished at the last moment: it is paid for.
    if (last?.status === 'answered') return judgeReply(last.reply, context);
    const happened = `gave no answer within ${context.timeoutMs / 1000} s`;
    return failedWith(replyIn(last), { type: FAILURES.timeout, happened, reason: '' }, context);
  }
  if (cancellation.aborted) {
    const message = 'the worker process stopped waiting for an answer that the provider goes on writing';
    return leftRunning({ type: FAILURES.workerStopped, message });
  }
  return afterFailedLook(error, context);
}

/** Asks the vendor to stop; null where the request did not reach it. */
async function cancel({ background, requestWith }: Wait, id: string): Promise<Progress | null> {
  try {
    return await background.cancel(requestWith(timeLimit(CANCEL_MS)), id);
  } catch {
    return null;
  }
}

/** A look is free, whatever comes of it, but says nothing of what the answer costs. */
function afterFailedLook(error: unknown, context: CallContext): SentRequest | LeftRunning {
  const diagnosis = diagnose(error);
  if (HOPELESS.has(diagnosis.type)) {
    const failure = describeFailure(diagnosis, context);
    return { kind: 'failed', failure: { ...failure, billed: 'unknown' }, reply: null, partial: null };
  }
  const happened = `could not be asked for its answer: it ${diagnosis.happened}`;
  const remedy = 'It will be asked again; nothing is bought twice.';
  const { type, message } = describeFailure({ ...diagnosis, happened, remedy }, context);
  return leftRunning({ type, message }, diagnosis.nextRetryDelayMs);
}

function leftRunning(problem: Problem, nextRetryDelayMs: number | null = null): LeftRunning {
  return { kind: 'left-running', problem, nextRetryDelayMs };
}

function replyIn(progress: Progress | null): ModelReply | null {
  return progress !== null && 'reply' in progress ? progress.reply : null;
}

/**
 * How long to wait before the next look at an answer, by how long it has been in the making: a quarter of that, so that
 * short answers are fetched soon and long ones cost few requests; from 0.5 s to 5 s.
 */
export function pauseMs(elapsedMs: number): number {
  return Math.min(Math.max(elapsedMs / 4, 500), 5000);
}

/**
 * How long a call may take in all, in milliseconds from its beginning, in whichever process that was. The run's own end
 * counts as well: after it, no attempt is left to come back for the answer.
 */
export function allowedMs(
  begunAt: number,
  timeoutMs: number,
  {
    scheduledTimestampMs,
    scheduleToCloseTimeoutMs,
  }: Pick<Info, 'scheduledTimestampMs' | 'scheduleToCloseTimeoutMs'>,
): number {
  if (scheduleToCloseTimeoutMs <= 0) return timeoutMs;
  const untilEndOfRun = scheduledTimestampMs + scheduleToCloseTimeoutMs - begunAt;
  return Math.max(0, Math.min(timeoutMs, untilEndOfRun));
}

/** Status that each of the vendor's codes would have been on a held connection. */
const FAILED: Readonly<Record<string, ProviderFailureType>> = {
  rate_limit_exceeded: FAILURES.rateLimited,
  server_error: FAILURES.unavailable,
  invalid_prompt: FAILURES.badRequest,
};

/** Turns an answer from the background, once it is over, into a reply or a failure. */
export function settleBackground(
  ended: Exclude<Progress, { status: 'running' }>,
  context: CallContext,
): SentRequest {
  const type = FAILURES.interrupted;
  switch (ended.status) {
    case 'answered':
      return judgeReply(ended.reply, context);
    case 'failed': {
      const { reply, code, reason } = ended;
      // A failure that was billed after all is none that Temporal may repeat.
      const known = reply.usage === null ? FAILED[code] : undefined;
      const happened = 'failed while it wrote its answer';
      return failedWith(reply, { type: known ?? FAILURES.badResponse, happened, reason }, context);
    }
    case 'cancelled': {
      const happened = 'was asked by someone else to give up its answer';
      return failedWith(ended.reply, { type, happened, reason: '' }, context);
    }
    case 'lost': {
      const happened = 'no longer knows the answer that it had begun';
      const remedy = 'Answers are kept there for a limited time; the call may have been billed.';
      return failedWith(null, { type, happened, reason: '', remedy }, context);
    }
  }
}

/** A failure beside what there was of a reply: usage that the vendor reports is billed, whatever the failure. */
function failedWith(reply: ModelReply | null, diagnosis: Diagnosis, context: CallContext): SentRequest {
  const failure = describeFailure(diagnosis, context);
  const billed = reply?.usage ? 'yes' : failure.billed;
  return { kind: 'failed', failure: { ...failure, billed }, reply, partial: null };
}
