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
