import { Context } from '@temporalio/activity';

const attempts = new WeakMap<Context, number>();

/**
 * Returns the time by Temporal's clock, in ms since 1970: when this attempt was scheduled, and what has passed since it
 * began here. Only this compares with the times that Temporal gives, since this machine's clock may be set.
 */
export function serverNow(): number {
  const context = Context.current();
  const now = performance.now();
  const begun = attempts.get(context) ?? now;
  attempts.set(context, begun);
  return context.info.currentAttemptScheduledTimestampMs + now - begun;
}

/** Returns when the activity of this attempt ends by Temporal's clock, in ms since 1970: Infinity without a limit. */
export function serverEnd(): number {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = Context.current().info;
  return scheduleToCloseTimeoutMs > 0 ? scheduledTimestampMs + scheduleToCloseTimeoutMs : Infinity;
}
