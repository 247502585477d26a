import { Context } from '@temporalio/activity';

/**
 * Runs `work` while telling the server, twice per heartbeat time-out, that this process lives.
 *
 * Heartbeats are also how a cancellation reaches an activity. The first goes out after half a time-out and not at
 * once: each one that reaches the server is a billed Action, and most calls are over before the first is due.
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

/** The longest a timer of Node can run; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * A signal that aborts with a `TimeoutError` after so many milliseconds, also as a part of `AbortSignal.any`.
 *
 * `AbortSignal.timeout` does not: its clock holds it weakly and so does `any`, and Node 20 lets the garbage collector
 * take it from between the two. A call to a provider that never answers would then last as long as its run.
 */
export function timeLimit(ms: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(
    () => {
      controller.abort(new DOMException('The time for this is over.', 'TimeoutError'));
    },
    Math.min(ms, LONGEST_MS),
  );
  // It must not keep a process alive that has nothing else to do.
  timer.unref();
  return controller.signal;
}
