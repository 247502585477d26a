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
const BROKEN_FAULTS = [
  /** A half-open socket: the connection was accepted, and stays silent. */
  'hang',
  /** Headers, then silence. */
  'stall',
  /** TCP reset before any header. */
  'reset',
  /** Headers and half of the body, then the connection closes. */
  'cut-mid-body',
  /** Half of the JSON, which its `content-length` calls whole. */
  'truncated',
  /** Half of the JSON in a chunked body that ends as if whole. */
  'truncated-chunked',
  /** 200 with a page of HTML, as networks give that want a sign-in: the request never left them. */
  'html',
  /** 502 with a proxy's page of HTML: the answer was lost behind the proxy. */
  'html-bad-gateway',
] as const;

/** Well-formed replies that no caller wants; their tokens are billed. */
const SPOILED_FAULTS = [
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

/** The model's own answer, whole and billed, with a flaw in how it comes or in what it tells of its tokens. */
const FLAWED_FAULTS = [
  /** The body trickles in. */
  'drip',
  /** No word of tokens. */
  'usage-missing',
  /** Zeros, as servers give that do not count; the bill counts all the same. */
  'usage-zero',
  /** Numbers far from the texts. The provider stands by them: its bill says the same. */
  'usage-wrong',
] as const;

/** The name of a fault: in a script as `{ fault: kind }`, in the log as `fault:kind`. */
export type FaultKind = ErrorFaultKind | BrokenFaultKind | SpoiledFaultKind | FlawedFaultKind;
export type ErrorFaultKind = (typeof ERROR_FAULTS)[number];
export type BrokenFaultKind = (typeof BROKEN_FAULTS)[number];
export type SpoiledFaultKind = (typeof SPOILED_FAULTS)[number];
export type FlawedFaultKind = (typeof FLAWED_FAULTS)[number];

const KINDS = [...ERROR_FAULTS, ...BROKEN_FAULTS, ...SPOILED_FAULTS, ...FLAWED_FAULTS];
const [DRIP, ...MISCOUNTS] = FLAWED_FAULTS;

/** A fault as scripts write it. */
export const faultSchema = z.discriminatedUnion(
  'fault',
  [
    z.strictObject({
      fault: z.enum(ERROR_FAULTS),
      retryAfter: retryAfterSchema.exactOptional(),
      /** Instead of the standing sentence: for a vendor that repeats a key, say. */
      message: z.string().exactOptional(),
      /** In the background: the response starts, and fails with this in the end. */
      late: z.literal(true).exactOptional(),
    }),
    z.strictObject({ fault: z.enum(BROKEN_FAULTS) }),
    z.strictObject({ fault: z.enum(SPOILED_FAULTS) }),
    z.strictObject({ fault: z.enum(MISCOUNTS) }),
    /** From the first byte to the last in `ms` milliseconds; default 1000. */
    z.strictObject({ fault: z.literal(DRIP), ms: z.int().positive().exactOptional() }),
  ],
  { error: `no such fault; there are ${KINDS.join(', ')}` },
);
/** Something that goes wrong with one request. */
export type Fault = z.infer<typeof faultSchema>;
/** A fault that the vendor itself states. */
export type ErrorFault = Extract<Fault, { fault: ErrorFaultKind }>;
/** A fault that is a whole answer all the same. */
export type FlawedFault = Extract<Fault, { fault: FlawedFaultKind }>;
type SpoiledFault = Extract<Fault, { fault: SpoiledFaultKind }>;

/** Tells the faults that vendors state from the rest. */
export function isErrorFault(fault: Fault): fault is ErrorFault {
  return ERROR_FAULTS.some((kind) => kind === fault.fault);
}

/** Tells the faults that are replies from the rest. */
export function isSpoiledFault(fault: Fault): fault is SpoiledFault {
  return SPOILED_FAULTS.some((kind) => kind === fault.fault);
}

/** Tells the faults of an answer that comes whole from the rest. */
export function isFlawedFault(fault: Fault): fault is FlawedFault {
  return FLAWED_FAULTS.some((kind) => kind === fault.fault);
}
