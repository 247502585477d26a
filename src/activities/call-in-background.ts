import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { Problem } from '../protocol/call';
import { FAILURES, type FailureType } from '../protocol/failures';
import { keepBegun } from '../store/answers';
import type { LedgerRow } from '../store/ledger';
import type { Store } from '../store/store';
import {
  begin,
  cancel,
  type Ended,
  failedWith,
  look,
  openWait,
  pauseMs,
  settleBackground,
  type Wait,
} from './background-wait';
import type { Dependencies } from './dependencies';
import { whileHeartbeating } from './heartbeat';
import type { ModelCall } from './model-call';
import { diagnose } from './models/diagnose';
import { type CallContext, describeFailure } from './models/failure';
import type { ModelReply, Progress } from './models/model';
import { brokenBy, brokenOff, repliedWith, type SentRequest } from './send-request';

/** An answer by the row it is paid under; `id` is null while the vendor has not been asked for it. */
export interface BackgroundAnswer {
  readonly row: LedgerRow;
  readonly id: string | null;
}

/**
 * Has an answer written in the background and waits for its end, with heartbeats. One that an earlier attempt began is
 * waited for, and not bought again.
 *
 * The id is kept before the first look, and a look that fails ends nothing. Never throws for what the provider does.
 */
export async function callInBackground(
  dependencies: Pick<Dependencies, 'background' | 'store'>,
  call: ModelCall,
  apiKey: string | null,
  { row, id }: BackgroundAnswer,
): Promise<SentRequest | LeftRunning> {
  const wait = openWait(dependencies, call, apiKey, row);
  return whileHeartbeating(() =>
    id === null ? beginAndFollow(dependencies.store, wait, row) : follow(wait, id, null),
  );
}

async function beginAndFollow(
  store: Store,
  wait: Wait,
  { callId, attempt }: LedgerRow,
): Promise<SentRequest | LeftRunning> {
  let begun: Awaited<ReturnType<typeof begin>>;
  try {
    begun = await begin(wait);
  } catch (error) {
    return brokenBy(error, wait.context, wait.cancellation);
  }
  await keepBegun(store, { callId, attempt, id: begun.id });
  return follow(wait, begun.id, begun.progress);
}

async function follow(wait: Wait, id: string, known: Progress | null): Promise<SentRequest | LeftRunning> {
  try {
    return settleBackground(await waitForEnd(wait, id, known), wait.context);
  } catch (error) {
    return stopWaiting(wait, id, error);
  }
}

async function waitForEnd(wait: Wait, id: string, known: Progress | null): Promise<Ended> {
  const { begunAt, cancellation, context } = wait;
  const signal = AbortSignal.any([cancellation, context.signal]);
  let progress = known ?? (await look(wait, id));
  while (progress.status === 'running') {
    await sleep(pauseMs(Date.now() - begunAt), undefined, { signal });
    progress = await look(wait, id);
  }
  return progress;
}

/** This process stopped waiting, and the vendor goes on: the next attempt comes for the same answer. */
export interface LeftRunning {
  readonly kind: 'left-running';
  readonly problem: Problem;
  /** When the vendor wants to be asked again, in milliseconds; null where it did not say. */
  readonly nextRetryDelayMs: number | null;
}

/** What no other look would mend, only a person. */
const HOPELESS: ReadonlySet<FailureType> = new Set([
  FAILURES.authentication,
  FAILURES.badRequest,
  FAILURES.quotaExceeded,
]);

/**
 * Decides what becomes of an answer when waiting for it was broken off by an error, a cancellation or a time-out.
 *
 * The vendor is asked to stop where no one will come back: the run is cancelled, or its or the card's time is over. A
 * process that ends, or has lost touch with the server, leaves the answer alone: somebody else may be waiting already.
 */
async function stopWaiting(wait: Wait, id: string, error: unknown): Promise<SentRequest | LeftRunning> {
  const { context, cancellation } = wait;
  if (Context.current().cancellationDetails?.cancelRequested === true) {
    return brokenOff(replyIn(await cancel(wait, id)));
  }
  if (context.signal.aborted) return runOutOfTime(wait, id);
  if (cancellation.aborted) {
    const message = 'the worker process stopped waiting for an answer that the provider goes on writing';
    return leftRunning({ type: FAILURES.workerStopped, message });
  }
  return afterFailedLook(error, context);
}

/** An answer that was finished at the last moment is taken: it is paid for. */
async function runOutOfTime(wait: Wait, id: string): Promise<SentRequest> {
  const { context } = wait;
  const last = await cancel(wait, id);
  if (last?.status === 'answered') return repliedWith(last.reply, context);
  const happened = `gave no answer within ${context.timeoutMs / 1000} s`;
  return failedWith(replyIn(last), { type: FAILURES.timeout, happened, reason: '' }, context);
}

/** A look is free, whatever becomes of it, but says nothing of what the answer costs. */
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
