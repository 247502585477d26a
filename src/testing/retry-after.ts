import { z } from 'zod';

/**
 * When to come back, in one of the forms vendors use: the header `retry-after-ms` (OpenAI), the header
 * `retry-after` in whole seconds (rounded up) or as an HTTP date (RFC 9110, section 10.2.3), or Gemini's
 * `google.rpc.RetryInfo` in the error's details, which the other vendors leave out.
 */
export const retryAfterSchema = z.strictObject({
  ms: z.int().nonnegative(),
  as: z.enum(['milliseconds', 'seconds', 'date', 'retry-info']),
});
/** A delay that an error asks for. */
export type RetryAfter = z.infer<typeof retryAfterSchema>;

/** The response headers that carry a `RetryAfter`; `now` in epoch milliseconds. */
export function retryAfterHeaders(retryAfter: RetryAfter | undefined, now: number): Record<string, string> {
  switch (retryAfter?.as) {
    case 'milliseconds':
      return { 'retry-after-ms': String(retryAfter.ms) };
    case 'seconds':
      return { 'retry-after': String(Math.ceil(retryAfter.ms / 1000)) };
    case 'date':
      return { 'retry-after': new Date(now + retryAfter.ms).toUTCString() };
    case 'retry-info':
    case undefined:
      return {};
  }
}
