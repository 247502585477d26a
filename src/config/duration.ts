import type { Duration } from '@temporalio/common';
import { msToNumber } from '@temporalio/common/lib/time';
import { MAX_WALL_CLOCK_MS } from '../protocol/messages';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** Whether a text is a duration in the notation of Temporal's SDK, from one second to 24 days. */
export function isDuration(text: string): boolean {
  // The notation also accepts bare numbers as milliseconds, which `wallClock: 30` is not meant to say.
  if (text.length > 100 || !/[a-z]$/i.test(text)) return false;
  try {
    const length = durationMs(text);
    return length >= 1000 && length <= MAX_WALL_CLOCK_MS;
  } catch {
    return false;
  }
}

/** Converts a valid duration to milliseconds. */
export function durationMs(duration: string): number {
  return msToNumber(duration as Duration);
}
