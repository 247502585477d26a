import { z } from 'zod';
import type { HttpError } from './http-error';

/** No provider is waited for longer than this: the run's own wall clock is worth more than a far date. */
const LONGEST_MS = 10 * 60 * 1000;

const retryInfoSchema = z.object({
  '@type': z.string().endsWith('google.rpc.RetryInfo'),
  retryDelay: z.string().regex(/^\d+(\.\d+)?s$/),
});

/**
 * When the provider wants to be asked again, in milliseconds from now, at most 10 minutes; null where it does not say
 * or the moment has passed.
 *
 * Read in this order: `retry-after-ms` (OpenAI); `retry-after` in seconds or as a date (RFC 9110, section 10.2.3);
 * `google.rpc.RetryInfo` in the error's details. A date is measured against the response's own `date`, so that clocks
 * that disagree do no harm; `now`, in epoch milliseconds, stands in for a missing one.
 */
export function readRetryAfter({ headers, details }: HttpError, now: number): number | null {
  const header = (name: string): string => headers?.get(name)?.trim() ?? '';
  const delay =
    readNumber(header('retry-after-ms')) ??
    readSeconds(header('retry-after')) ??
    readDate(header('retry-after'), readTime(header('date')) ?? now) ??
    readRetryInfo(details);
  return delay === null || delay <= 0 ? null : Math.min(Math.ceil(delay), LONGEST_MS);
}

function readNumber(text: string): number | null {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : null;
}

function readSeconds(text: string): number | null {
  const seconds = readNumber(text);
  return seconds === null ? null : seconds * 1000;
}

function readDate(text: string, from: number): number | null {
  const time = readTime(text);
  return time === null ? null : time - from;
}

/** The oldest of HTTP's three date forms names no zone; all of them mean GMT (RFC 9110, section 5.6.7). */
function readTime(text: string): number | null {
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : time;
}

function readRetryInfo(details: readonly unknown[]): number | null {
  for (const detail of details) {
    const { data } = retryInfoSchema.safeParse(detail);
    if (data) return readSeconds(data.retryDelay.slice(0, -1));
  }
  return null;
}
