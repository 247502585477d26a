import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { FAILURES, type FailureType } from '../protocol/failures';
import { type BegunAnswer, keepBegun, type LedgerRow } from '../store/ledger';
import { brokenBy, brokenOff, type Dependencies, type ModelCall } from './send-request';
import { delayed, timeLimit, untilWritten } from './heartbeat';
import {
  type SentRequest,
  type ProviderFailure,
  describeFailure,
  type Ended,
  failedWith,
  judgeReply,
  tooLate,
} from './models/failure';
import { diagnose } from './models/diagnose';
import type { ModelReply, ModelRequest, Progress } from './models/model';
import { serverEnd, serverNow } from './server-time';

/** Time that a begin request gets after a cancellation: without its id, the answer cannot be stopped. */
const BEGIN_GRACE_MS = 10_000;
const LOOK_MS = 30_000;
const CANCEL_MS = 10_000;

/** This process stopped waiting while the vendor goes on; the next attempt fetches the same answer. */
export interface LeftRunning {
  readonly kind: 'left-running';
  readonly failure: Omit<ProviderFailure, 'billed' | 'health'>;
}

/**
 * Starts a background answer, or resumes one that an earlier attempt began, and polls until it ends. Stores the id
 * before the first poll. A failed poll ends the call only if no retry can help. Never throws for provider errors.
 * @param begun the answer that an earlier attempt began, or null if none did
 */
export async function callInBackground(
  { background, store }: Pick<Dependencies, 'background' | 'store'>,
  call: ModelCall,
  apiKey: string | null,
  { callId, attempt }: LedgerRow,
  begun: BegunAnswer | null,
): Promise<Ended | LeftRunning> {
  const begunAt = begun?.begunAt ?? serverNow();
  // Counts from the start of the answer, whichever process began it, to the time limit of the card or the run.
  const endsAt = Math.min(begunAt + call.timeoutMs, serverEnd());
  const limit = timeLimit(Math.max(0, endsAt - serverNow()));
  const asked = { ...call, apiKey, callId, timeoutMs: endsAt - begunAt, signal: limit };
  const { cancellationSignal: cancellation } = Context.current();
  const under = (...signals: AbortSignal[]): ModelRequest => ({ ...asked, signal: AbortSignal.any(signals) });

  let answer: { readonly id: string; readonly progress: Progress | null };
  try {
    // A cancellation aborts this only after a grace period, to obtain the id by which the answer is stopped.
    const beginning = under(limit, delayed(cancellation, BEGIN_GRACE_MS));
    answer = begun === null ? await background.begin(beginning) : { id: begun.id, progress: null };
  } catch (error) {
    return brokenBy(error, asked);
  }
  const { id } = answer;
  if (begun === null) await untilWritten(() => keepBegun(store, { callId, attempt, id, begunAt }));

  // Not bound by the call's time limit: a finished answer is accepted, however late.
  const look = (): Promise<Progress> => background.look(under(cancellation, timeLimit(LOOK_MS)), id);
  try {
    let progress = answer.progress ?? (await look());
    while (progress.status === 'running') {
      const signal = AbortSignal.any([cancellation, limit]);
      await sleep(pauseMs(serverNow() - begunAt), undefined, { signal });
      progress = await look();
    }
    if (progress.status === 'answered') return judgeReply(progress.reply, asked);
    return failedWith(describeFailure(progress.diagnosis, asked), progress.reply);
  } catch (error) {
    const cancel = (): Promise<Progress | null> =>
      background.cancel(under(timeLimit(CANCEL_MS)), id).catch(() => null);
    return stopWaiting(error, asked, cancel);
  }
}

const HOPELESS: ReadonlySet<FailureType> = new Set([
  FAILURES.authentication,
  FAILURES.badRequest,
  FAILURES.quotaExceeded,
]);

/**
 * Decides what becomes of an answer when the wait for it is interrupted. The vendor is asked to stop if no attempt
 * will return for the answer: the run was cancelled, or the time limit of the run or the card was reached. If this
 * process ends or has lost contact with the server, another may already be waiting.
 */
async function stopWaiting(
  error: unknown,
  asked: SentRequest,
  cancel: () => Promise<Progress | null>,
): Promise<Ended | LeftRunning> {
  const { cancellationSignal, cancellationDetails } = Context.current();
  if (cancellationDetails?.cancelRequested === true) return brokenOff(true, replyIn(await cancel()));
  if (asked.signal.aborted) {
    const last = await cancel();
    // Finished just in time: it is paid for, so it is used.
    if (last?.status === 'answered') return judgeReply(last.reply, asked);
    return failedWith(tooLate(asked), replyIn(last));
  }
  if (cancellationSignal.aborted) {
    const message = 'the worker process stopped waiting for an answer that the provider is still writing';
    return { kind: 'left-running', failure: { type: FAILURES.workerStopped, message, retryable: true } };
  }
  const diagnosis = diagnose(error);
  // Polling is free, but a failed poll does not show whether the answer is billed.
  if (HOPELESS.has(diagnosis.type)) {
    return failedWith(describeFailure({ ...diagnosis, billed: 'unknown' }, asked), null);
  }
  const happened = `could not be polled for its answer: it ${diagnosis.happened}`;
  const remedy = 'It will be polled again; the answer is not requested twice.';
  const { type, message } = describeFailure({ ...diagnosis, happened, remedy }, asked);
  const { nextRetryDelayMs } = diagnosis;
  return { kind: 'left-running', failure: { type, message, retryable: true, nextRetryDelayMs } };
}

function replyIn(progress: Progress | null): ModelReply | null {
  return progress !== null && 'reply' in progress ? progress.reply : null;
}

/** Returns the poll interval, a quarter of the elapsed time: short answers come soon, long ones need few polls. */
export function pauseMs(elapsedMs: number): number {
  return Math.min(Math.max(elapsedMs / 4, 500), 5000);
}
