import { Context } from '@temporalio/activity';

/**
 * Runs `work` with two heartbeats per heartbeat time-out, which are also how a cancellation reaches an activity.
 *
 * The first goes out after half a time-out and not at once: each one that reaches the server is a billed Action, and
 * most calls are over before the first is due.
 */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const { heartbeatTimeoutMs } = context.info;
  if (heartbeatTimeoutMs === undefined) return work();
  const timer = setInterval(() => {
    context.heartbeat();
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
 * A signal that aborts with a `TimeoutError` after so many milliseconds, also as a part of `AbortSignal.any`.
 *
 * `AbortSignal.timeout` does not: its clock and `any` both hold it weakly, and Node 20 lets the garbage collector take
 * it from between them. A call to a provider that never answers would then last as long as its run.
 */
export function timeLimit(ms: number): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort(new DOMException('The time for this is over.', 'TimeoutError'));
  };
  setTimeout(abort, Math.min(ms, LONGEST_MS)).unref();
  return controller.signal;
}
