import type { Info } from '@temporalio/activity';

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
  /** When its request was begun, in epoch milliseconds. */
  readonly begunAt: number;
  /** What its card allows, in milliseconds. */
  readonly timeoutMs: number;
  /** When the activity was scheduled first, and how long the run's wall clock allows for all its attempts. */
  readonly info: Pick<Info, 'scheduledTimestampMs' | 'scheduleToCloseTimeoutMs'>;
}

/**
 * How long a call may take in all, in milliseconds from its beginning, in whichever process that was. The run's own end
 * counts as well: when it has come, nobody is left to come back for the answer.
 */
export function allowedMs({ begunAt, timeoutMs, info }: Bounds): number {
  const { scheduledTimestampMs, scheduleToCloseTimeoutMs } = info;
  if (scheduleToCloseTimeoutMs <= 0) return timeoutMs;
  const untilEndOfRun = scheduledTimestampMs + scheduleToCloseTimeoutMs - begunAt;
  return Math.max(0, Math.min(timeoutMs, untilEndOfRun));
}

/** Aborts for the same reason as another signal, but later: time to end in order what was begun. */
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
