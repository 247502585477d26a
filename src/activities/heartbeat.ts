import { setTimeout as sleep } from 'node:timers/promises';
import { Context, type Info } from '@temporalio/activity';
import { ConductorError } from '../errors';

const written = new WeakMap<Context, number>();

/** Notes for the next heartbeat how many characters of an answer have come. */
export function noteWritten(characters: number): void {
  written.set(Context.current(), characters);
}

/**
 * Runs `work` with two heartbeats per heartbeat time-out, which also bring a cancellation. The first goes out after
 * half a time-out: each is a billed Action, and most calls are over before.
 */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const { heartbeatTimeoutMs } = context.info;
  if (heartbeatTimeoutMs === undefined) return work();
  const timer = setInterval(() => {
    context.heartbeat({ writtenCharacters: written.get(context) ?? 0 });
  }, heartbeatTimeoutMs / 2);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** A timer of Node that is longer would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A signal that aborts with a `TimeoutError` after so many milliseconds, also as a part of `AbortSignal.any`. The clock of
 * `AbortSignal.timeout` and `any` both hold it weakly, and Node 20 lets the garbage collector take it from between them.
 */
export function timeLimit(ms: number): AbortSignal {
  return startLimit(ms).controller.signal;
}

/** Runs work under such a signal, which a cancellation aborts as well, and leaves no timer or listener behind. */
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

/** How long a write is repeated after a cancellation, which may be the end of the process. */
const WRITE_GRACE_MS = 10_000;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Repeats a write that follows a paid request until the store takes it, at most to the end of the run.
 * @throws the store's error, where time ran out; at once an error of ours, which another try would meet again
 */
export async function untilWritten<T>(write: () => Promise<T>): Promise<T> {
  const { cancellationSignal, info } = Context.current();
  let signal: AbortSignal | null = null;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ConductorError) throw error;
      signal ??= AbortSignal.any([delayed(cancellationSignal, WRITE_GRACE_MS), timeLimit(leftFor(info))]);
      await sleep(pauseMs, undefined, { signal }).catch(() => Promise.reject(error as Error));
    }
  }
}

/** Time left of an activity after earlier attempts, by the server's clock alone: this machine's may jump. */
function leftFor(info: Info): number {
  const usedMs = Math.max(0, info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs);
  return (info.scheduleToCloseTimeoutMs || Infinity) - usedMs;
}
