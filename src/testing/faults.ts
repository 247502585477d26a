import { z } from 'zod';
import type { Reply } from './behaviour';

/** Faults that a vendor states in its own error body; which status goes with each is the vendor's affair. */
export const ERROR_FAULTS = [
  'bad-request',
  'unauthorized',
  /** A wrong key. Gemini says 400 here, the others 401. */
  'invalid-key',
  'forbidden',
  'not-found',
  'request-timeout',
  'too-large',
  'unprocessable',
  'rate-limited',
  /** No money or quota left. Anthropic says 402 here, the others 429. */
  'quota-exceeded',
  'server-error',
  'bad-gateway',
  'unavailable',
  'gateway-timeout',
  'overloaded',
] as const;

/** Faults below the vendor's protocol: a connection or a body that breaks. */
export const BROKEN_FAULTS = [
  /** The connection stays open and silent. */
  'hang',
  /** TCP reset before any header. */
  'reset',
  /** Headers and half of the body, then the connection closes. */
  'cut-mid-body',
  /** Half of the JSON, which its `content-length` calls whole. */
  'truncated',
  /** Half of the JSON in a chunked body that ends as if whole. */
  'truncated-chunked',
  /** 200 with a page of HTML, as proxies give. */
  'html',
] as const;

/** Well-formed replies that no caller wants; their tokens are billed. */
export const SPOILED_FAULTS = [
  'empty',
  /** The model declined. */
  'refusal',
  /** A safety filter stopped it, which each vendor reports in another place than a refusal. */
  'filtered',
  /** Cut by the output limit. */
  'length',
  /** Reasoning used up the output limit: no text at all. */
  'length-without-text',
  /** An answer of 2 MB. */
  'huge',
] as const;

export type ErrorFaultKind = (typeof ERROR_FAULTS)[number];
export type BrokenFaultKind = (typeof BROKEN_FAULTS)[number];
export type SpoiledFaultKind = (typeof SPOILED_FAULTS)[number];
export type FaultKind = ErrorFaultKind | BrokenFaultKind | SpoiledFaultKind;

/**
 * When to come back, in one of the forms vendors use: the header `retry-after-ms` (OpenAI), the header
 * `retry-after` in whole seconds (rounded up) or as an HTTP date (RFC 9110, section 10.2.3), or Gemini's
 * `google.rpc.RetryInfo` in the error's details, which the other vendors leave out.
 */
export const retryAfterSchema = z.strictObject({
  ms: z.int().nonnegative(),
  as: z.enum(['milliseconds', 'seconds', 'date', 'retry-info']),
});
export type RetryAfter = z.infer<typeof retryAfterSchema>;

export const faultSchema = z.union([
  z.strictObject({
    fault: z.enum(ERROR_FAULTS),
    retryAfter: retryAfterSchema.exactOptional(),
    /** Instead of the standing sentence: for a vendor that repeats a key, say. */
    message: z.string().exactOptional(),
  }),
  z.strictObject({ fault: z.enum(BROKEN_FAULTS) }),
  z.strictObject({ fault: z.enum(SPOILED_FAULTS) }),
]);
/** Something that goes wrong with one request. */
export type Fault = z.infer<typeof faultSchema>;
export type ErrorFault = Extract<Fault, { fault: ErrorFaultKind }>;
type SpoiledFault = Extract<Fault, { fault: SpoiledFaultKind }>;

export function isErrorFault(fault: Fault): fault is ErrorFault {
  return ERROR_FAULTS.some((kind) => kind === fault.fault);
}

export function isSpoiledFault(fault: Fault): fault is SpoiledFault {
  return SPOILED_FAULTS.some((kind) => kind === fault.fault);
}

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

const HUGE_BYTES = 2 * 1024 * 1024;
const REASONING_TOKENS = 64;

/** The reply that a spoiled fault stands for. `maxOutputTokens` is the request's own limit. */
export function spoiledReply(kind: SpoiledFaultKind, maxOutputTokens: number | null): Reply {
  switch (kind) {
    case 'empty':
      return { text: '' };
    case 'refusal':
      return { text: '', finish: 'refusal', refusal: 'I cannot help with that.' };
    case 'filtered':
      return { text: '', finish: 'filtered' };
    case 'length':
      return { text: 'This answer ends in the middle of a', finish: 'length' };
    case 'length-without-text': {
      const reasoningTokens = maxOutputTokens ?? REASONING_TOKENS;
      return { text: '', finish: 'length', usage: { outputTokens: reasoningTokens, reasoningTokens } };
    }
    case 'huge':
      return { text: 'All work and no play. '.repeat(HUGE_BYTES / 22 + 1).slice(0, HUGE_BYTES) };
  }
}
