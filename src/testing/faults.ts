/**
 * When to come back, in one of the forms vendors use: the header `retry-after-ms` (OpenAI), the header
 * `retry-after` in whole seconds (rounded up) or as an HTTP date (RFC 9110, section 10.2.3), or Gemini's
 * `google.rpc.RetryInfo` in the error's details, which the other vendors leave out.
 */
export interface RetryAfter {
  readonly ms: number;
  readonly as: 'milliseconds' | 'seconds' | 'date' | 'retry-info';
}

/** The response headers that carry a `RetryAfter`; `now` in epoch milliseconds. */
export function retryAfterHeaders(retryAfter: RetryAfter | undefined, now: number): Record<string, string> {
  const { ms = 0, as = 'retry-info' } = retryAfter ?? {};
  if (as === 'retry-info') return {};
  if (as === 'milliseconds') return { 'retry-after-ms': String(ms) };
  return {
    'retry-after': as === 'seconds' ? String(Math.ceil(ms / 1000)) : new Date(now + ms).toUTCString(),
  };
}

/**
 * Faults that a vendor states in its own error body: their status, type and code at OpenAI, type at Anthropic, and status
 * at Google. Where no money or quota is left, Anthropic says 402; to a wrong key Gemini says 400.
 */
export const ERRORS = {
  'bad-request': [400, 'invalid_request_error', null, 'invalid_request_error', 'INVALID_ARGUMENT'],
  unauthorized: [401, 'invalid_request_error', null, 'authentication_error', 'UNAUTHENTICATED'],
  'invalid-key': [
    401,
    'invalid_request_error',
    'invalid_api_key',
    'authentication_error',
    'INVALID_ARGUMENT',
  ],
  forbidden: [
    403,
    'request_forbidden',
    'unsupported_country_region_territory',
    'permission_error',
    'PERMISSION_DENIED',
  ],
  'not-found': [404, 'invalid_request_error', 'model_not_found', 'not_found_error', 'NOT_FOUND'],
  'request-timeout': [408, 'timeout', null, 'timeout_error', 'DEADLINE_EXCEEDED'],
  'too-large': [413, 'invalid_request_error', null, 'request_too_large', 'INVALID_ARGUMENT'],
  unprocessable: [422, 'invalid_request_error', null, 'invalid_request_error', 'INVALID_ARGUMENT'],
  'rate-limited': [429, 'requests', 'rate_limit_exceeded', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  'quota-exceeded': [429, 'insufficient_quota', 'insufficient_quota', 'billing_error', 'RESOURCE_EXHAUSTED'],
  'server-error': [500, 'server_error', null, 'api_error', 'INTERNAL'],
  'bad-gateway': [502, 'server_error', null, 'api_error', 'UNAVAILABLE'],
  unavailable: [503, 'server_error', null, 'api_error', 'UNAVAILABLE'],
  'gateway-timeout': [504, 'server_error', null, 'timeout_error', 'DEADLINE_EXCEEDED'],
  overloaded: [529, 'server_error', null, 'overloaded_error', 'UNAVAILABLE'],
} as const;
export const ERROR_FAULTS = Object.keys(ERRORS) as readonly ErrorFaultKind[];

/** Faults below the vendor's protocol: a connection or a body that breaks. */
export const BROKEN_FAULTS = [
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
  /** 200 with the sign-in page of a network: the request never left it. */
  'html',
  /** 502 with a proxy's page of HTML: the answer was lost behind the proxy. */
  'html-bad-gateway',
] as const;

/** Well-formed replies that are of no use to the caller; their tokens are billed. */
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

/** The model's own answer, whole and billed, with a flaw in how it arrives or in its token counts. */
export const FLAWED_FAULTS = [
  /** The body trickles in. */
  'drip',
  'usage-missing',
  /** Zeros, as from servers that do not count; the tokens are billed all the same. */
  'usage-zero',
  /** Numbers far from the texts, which the provider bills. */
  'usage-wrong',
] as const;

/** The name of a fault: in a script as `{ fault: kind }`, in the log as `fault:kind`. */
export type FaultKind = ErrorFaultKind | BrokenFaultKind | SpoiledFaultKind | FlawedFaultKind;
export type ErrorFaultKind = keyof typeof ERRORS;
export type BrokenFaultKind = (typeof BROKEN_FAULTS)[number];
export type SpoiledFaultKind = (typeof SPOILED_FAULTS)[number];
export type FlawedFaultKind = (typeof FLAWED_FAULTS)[number];

export type Fault =
  | {
      readonly fault: ErrorFaultKind;
      readonly retryAfter?: RetryAfter;
      /** Instead of the standing sentence: for a vendor that repeats a key, say. */
      readonly message?: string;
      /** In the background: the response starts, and fails with this in the end. */
      readonly late?: true;
    }
  | { readonly fault: BrokenFaultKind }
  | { readonly fault: SpoiledFaultKind }
  | { readonly fault: Exclude<FlawedFaultKind, 'drip'> }
  /** From the first byte to the last in `ms` milliseconds; default 1000. */
  | { readonly fault: 'drip'; readonly ms?: number };

export type FaultOf<Kind extends FaultKind> = Extract<Fault, { fault: Kind }>;

export function isFaultOf<Kind extends FaultKind>(
  kinds: readonly Kind[],
  fault: Fault,
): fault is FaultOf<Kind> {
  return kinds.some((kind) => kind === fault.fault);
}
