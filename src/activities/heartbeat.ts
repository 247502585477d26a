import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { ConductorError, reasonOf } from '../errors';
import type { CallProgress } from '../protocol/activity-contract';
import { serverEnd, serverNow } from './server-time';

const progress = new WeakMap<Context, CallProgress>();

function progressOf(context: Context): CallProgress {
  return progress.get(context) ?? { writtenCharacters: 0 };
}

/** Records for the next heartbeat how many characters of an answer have arrived. */
export function noteWritten(writtenCharacters: number): void {
  const context = Context.current();
  progress.set(context, { ...progressOf(context), writtenCharacters });
}

/**
 * Runs `work` with two heartbeats per heartbeat timeout, which also deliver a cancellation. The first is sent after
 * half a timeout: each is a billed Action, and most calls end before it.
 */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const { heartbeatTimeoutMs } = context.info;
  // Counts from here on.
  serverNow();
  if (heartbeatTimeoutMs === undefined) return work();
  const timer = setInterval(() => {
    context.heartbeat(progressOf(context));
  }, heartbeatTimeoutMs / 2);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Longest delay of a Node timer; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Returns a signal that aborts with a `TimeoutError` after `ms`, even inside `AbortSignal.any`. The timer of
 * `AbortSignal.timeout` and `any` both hold their signal weakly, so Node 20 may collect it before it fires.
 */
export function timeLimit(ms: number): AbortSignal {
  return startLimit(ms).controller.signal;
}

/** Runs `work` under a time limit and a cancellation, and leaves no timer or listener behind. */
export async function withinLimit<T>(
  ms: number,
  cancellation: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { controller, timer } = startLimit(ms);
  const cancel = (): void => {
    controller.abort(cancellation.reason);
  };
  if (cancellation.aborted) cancel();
  cancellation.addEventListener('abort', cancel);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    cancellation.removeEventListener('abort', cancel);
  }
}

function startLimit(ms: number): { readonly controller: AbortController; readonly timer: NodeJS.Timeout } {
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort(new DOMException('The time for this is over.', 'TimeoutError'));
  };
  return { controller, timer: setTimeout(abort, Math.min(ms, LONGEST_MS)).unref() };
}

/** Returns a signal that aborts `delayMs` after another, with its reason, to leave time for an orderly end. */
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

/** Time for which a write is retried after a cancellation, which may mean that the process is ending. */
const WRITE_GRACE_MS = 10_000;
const LONGEST_PAUSE_MS = 10_000;
const SAY_EVERY_MS = 60_000;

/**
 * Retries a write that follows a paid request until the store accepts it, at most until the end of the run. Meanwhile
 * heartbeats tell what the call waits for, and the worker's log once a minute.
 * @throws the store's error when time runs out; an error of ours at once, since every retry would meet it again
 */
export async function untilWritten<T>(write: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const { cancellationSignal } = context;
  let signal: AbortSignal | null = null;
  let saidAt = -Infinity;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const done = await write();
      progress.set(context, { ...progressOf(context), waitsForStore: undefined });
      return done;
    } catch (error) {
      if (error instanceof ConductorError) throw error;
      const reason = reasonOf(error);
      progress.set(context, { ...progressOf(context), waitsForStore: reason });
      const now = performance.now();
      if (now - saidAt >= SAY_EVERY_MS) {
        saidAt = now;
        context.log.warn(`a paid answer waits until the store takes it: ${reason}`);
      }
      signal ??= AbortSignal.any([
        delayed(cancellationSignal, WRITE_GRACE_MS),
        timeLimit(serverEnd() - serverNow()),
      ]);
      await sleep(pauseMs, undefined, { signal }).catch(() => Promise.reject(error as Error));
    }
  }
}
