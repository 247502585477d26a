import { msToNumber } from '@temporalio/common/lib/time';
import { z } from 'zod';

/** Below one second nothing of ours can be timed; beyond 24 days a timer of Node fires at once instead. */
const SHORTEST_MS = 1000;
const LONGEST_MS = 24 * 24 * 60 * 60 * 1000;

/** A duration as people write it, in the notation of Temporal's own SDK: from one second to 24 days. */
export const durationSchema = z.string().refine(isDuration, {
  error: 'expected a duration from 1s to 24d, e.g. 90s, 30m or 2h',
});

/** The milliseconds of a duration that was checked. */
export function durationMs(duration: string): number {
  return msToNumber(duration);
}

function isDuration(text: string): boolean {
  // The notation also takes bare numbers as milliseconds, but nobody who writes `wallClock: 30` means those.
  if (!/[a-z]$/i.test(text)) return false;
  try {
    const ms = msToNumber(text);
    return ms >= SHORTEST_MS && ms <= LONGEST_MS;
  } catch {
    return false;
  }
}
