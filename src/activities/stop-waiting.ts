import { Context } from '@temporalio/activity';
import type { Problem } from '../protocol/call';
import { FAILURES, type FailureType } from '../protocol/failures';
import { cancel, type Wait } from './background-wait';
import { diagnose } from './models/diagnose';
import { type CallContext, describeFailure } from './models/failure';
import type { ModelReply, Progress } from './models/model';
import { brokenOff, repliedWith, type SentRequest } from './send-request';
import { failedWith } from './settle-background';

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
 * The vendor is told to stop where nobody will come back: the run is cancelled, or its or the card's time is over. A
 * process that ends, or has lost touch with the server, leaves the answer alone: somebody else may be waiting already.
 */
export async function stopWaiting(
  wait: Wait,
  id: string,
  error: unknown,
): Promise<SentRequest | LeftRunning> {
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
