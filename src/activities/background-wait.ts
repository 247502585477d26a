import { activityInfo, Context, type Info } from '@temporalio/activity';
import { FAILURES } from '../protocol/failures';
import type { LedgerRow } from '../store/ledger';
import type { Dependencies } from './dependencies';
import { timeLimit } from './heartbeat';
import type { ModelCall } from './model-call';
import type { Diagnosis, ProviderFailureType } from './models/diagnose';
import { type CallContext, describeFailure } from './models/failure';
import type { BackgroundCalls, ModelReply, ModelRequest, Progress } from './models/model';
import { contextOf, repliedWith, requestOf, type SentRequest } from './send-request';

/** How long the beginning of an answer may go on after a cancellation: one whose id never arrives cannot be stopped. */
const BEGIN_GRACE_MS = 10_000;
/** How long one look, or the request to stop, may take. */
const LOOK_MS = 30_000;
const CANCEL_MS = 10_000;

/** One process's wait for one answer. */
export interface Wait {
  readonly background: BackgroundCalls;
  /** When the answer was started, in epoch milliseconds. */
  readonly begunAt: number;
  /** Its signal aborts when the time of the card or of the run is over, whichever process began the answer. */
  readonly context: CallContext;
  /** The activity's own. */
  readonly cancellation: AbortSignal;
  readonly requestWith: (signal: AbortSignal) => ModelRequest;
}

/** Begins to wait for the answer that is paid under a row. */
export function openWait(
  { background }: Pick<Dependencies, 'background'>,
  call: ModelCall,
  apiKey: string | null,
  { callId, startedAt }: LedgerRow,
): Wait {
  const begunAt = Date.parse(startedAt);
  const timeoutMs = allowedMs({ begunAt, timeoutMs: call.timeoutMs, info: activityInfo() });
  const leftMs = Math.max(0, begunAt + timeoutMs - Date.now());
  return {
    background,
    begunAt,
    context: { ...contextOf(call, apiKey, timeLimit(leftMs)), timeoutMs },
    cancellation: Context.current().cancellationSignal,
    requestWith: (signal) => requestOf(call, { apiKey, callId }, signal),
  };
}

/** Starts the answer. A cancellation stops that only after a while, so that there is an id to stop the rest by. */
export function begin({
  background,
  context,
  cancellation,
  requestWith,
}: Wait): ReturnType<BackgroundCalls['begin']> {
  cancellation.throwIfAborted();
  const signal = AbortSignal.any([context.signal, delayed(cancellation, BEGIN_GRACE_MS)]);
  return background.begin(requestWith(signal));
}

/** Not bound by the call's own time: an answer that is there is taken, however late somebody comes for it. */
export function look({ background, cancellation, requestWith }: Wait, id: string): Promise<Progress> {
  const signal = AbortSignal.any([cancellation, timeLimit(LOOK_MS)]);
  return background.look(requestWith(signal), id);
}

/** Has the vendor stop, as best it goes: null where it did not hear that. */
export async function cancel({ background, requestWith }: Wait, id: string): Promise<Progress | null> {
  try {
    return await background.cancel(requestWith(timeLimit(CANCEL_MS)), id);
  } catch {
    return null;
  }
}

const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/**
 * How long to wait before the next look at an answer, in milliseconds, by how long it has been written already: a
 * quarter of that, so that short answers are fetched soon and long ones cost few requests; from 0.5 s to 5 s.
 */
export function pauseMs(elapsedMs: number): number {
  return Math.min(Math.max(elapsedMs / 4, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

/** What bounds the time of one call. */
export interface Bounds {
  /** When its request was sent, in epoch milliseconds. */
  readonly begunAt: number;
  /** What its card allows, in milliseconds. */
  readonly timeoutMs: number;
  /** When the activity was scheduled first, and how long the run's wall clock allows for all its attempts. */
  readonly info: Pick<Info, 'scheduledTimestampMs' | 'scheduleToCloseTimeoutMs'>;
}

/**
 * How long a call may take in all, in milliseconds from its beginning, in whichever process that was. The run's own end
 * counts as well: when it has come, no attempt is left to come back for the answer.
 */
export function allowedMs({ begunAt, timeoutMs, info }: Bounds): number {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = info;
  if (scheduleToCloseTimeoutMs <= 0) return timeoutMs;
  const untilEndOfRun = scheduledTimestampMs + scheduleToCloseTimeoutMs - begunAt;
  return Math.max(0, Math.min(timeoutMs, untilEndOfRun));
}

/** Aborts for the same reason as another signal, but later: time to end in order what was started. */
export function delayed(signal: AbortSignal, delayMs: number): AbortSignal {
  const controller = new AbortController();
  const abortLater = (): void => {
    setTimeout(() => {
      controller.abort(signal.reason);
    }, delayMs).unref();
  };
  if (signal.aborted) abortLater();
  else signal.addEventListener('abort', abortLater, { once: true });
  return controller.signal;
}

/** An answer in the background that no longer changes. */
export type Ended = Exclude<Progress, { status: 'running' }>;

/** What the vendor's codes would have been as a status, had the connection been held. */
const FAILED: Readonly<Record<string, ProviderFailureType>> = {
  rate_limit_exceeded: FAILURES.rateLimited,
  server_error: FAILURES.unavailable,
  invalid_prompt: FAILURES.badRequest,
};

const KEPT_FOR_A_TIME = 'Answers are kept there for a limited time; the call may have been billed.';

/** What an answer in the background comes to, once it is over. */
export function settleBackground(ended: Ended, context: CallContext): SentRequest {
  switch (ended.status) {
    case 'answered':
      return repliedWith(ended.reply, context);
    case 'failed':
      return failedWith(ended.reply, diagnoseFailed(ended), context);
    case 'cancelled': {
      const happened = 'was told by somebody else to give up its answer';
      return failedWith(ended.reply, { type: FAILURES.interrupted, happened, reason: '' }, context);
    }
    case 'lost': {
      const happened = 'no longer knows the answer that it had begun';
      const lost = { type: FAILURES.interrupted, happened, reason: '', remedy: KEPT_FOR_A_TIME };
      return failedWith(null, lost, context);
    }
  }
}

/** A failure beside what there was of a reply: usage that the vendor tells is billed, whatever the failure. */
export function failedWith(
  reply: ModelReply | null,
  diagnosis: Diagnosis,
  context: CallContext,
): Extract<SentRequest, { kind: 'failed' }> {
  const failure = describeFailure(diagnosis, context);
  const billed = reply?.usage ? 'yes' : failure.billed;
  return { kind: 'failed', failure: { ...failure, billed }, reply, partial: null };
}

/** A failure that was billed after all is none that Temporal may repeat. */
function diagnoseFailed({ reply, code, reason }: Extract<Ended, { status: 'failed' }>): Diagnosis {
  const type = reply.usage === null ? FAILED[code] : undefined;
  return { type: type ?? FAILURES.badResponse, happened: 'failed while it wrote its answer', reason };
}
