import type { ServerResponse } from 'node:http';
import type { Usage } from '../protocol/solve';
import { begin, type Payload } from './stream';

/**
 * Retry delay in a vendor's format: the header `retry-after-ms` (OpenAI), `retry-after` in whole seconds or as a date
 * (RFC 9110, section 10.2.3), or Gemini's `google.rpc.RetryInfo`, which the other vendors leave out.
 */
export interface RetryAfter {
  readonly ms: number;
  readonly as: 'milliseconds' | 'seconds' | 'date' | 'retry-info';
}

export function retryAfterHeaders(retryAfter: RetryAfter | undefined, now: number): Record<string, string> {
  const { ms = 0, as = 'retry-info' } = retryAfter ?? {};
  if (as === 'retry-info') return {};
  if (as === 'milliseconds') return { 'retry-after-ms': String(ms) };
  return {
    'retry-after': as === 'seconds' ? String(Math.ceil(ms / 1000)) : new Date(now + ms).toUTCString(),
  };
}

const BAD_REQUEST = 'invalid_request_error';
const COUNTRY = 'unsupported_country_region_territory';

/**
 * Faults that a vendor reports in its own error body: the status, OpenAI's type and code, Anthropic's type and
 * Google's status. Two statuses differ: Anthropic's is 402 if no quota is left, Gemini's is 400 for an invalid key.
 */
export const ERRORS = {
  'bad-request': [400, BAD_REQUEST, null, BAD_REQUEST, 'INVALID_ARGUMENT'],
  unauthorized: [401, BAD_REQUEST, null, 'authentication_error', 'UNAUTHENTICATED'],
  'invalid-key': [401, BAD_REQUEST, 'invalid_api_key', 'authentication_error', 'INVALID_ARGUMENT'],
  forbidden: [403, 'request_forbidden', COUNTRY, 'permission_error', 'PERMISSION_DENIED'],
  'not-found': [404, BAD_REQUEST, 'model_not_found', 'not_found_error', 'NOT_FOUND'],
  'request-timeout': [408, 'timeout', null, 'timeout_error', 'DEADLINE_EXCEEDED'],
  'too-large': [413, BAD_REQUEST, null, 'request_too_large', 'INVALID_ARGUMENT'],
  unprocessable: [422, BAD_REQUEST, null, BAD_REQUEST, 'INVALID_ARGUMENT'],
  'rate-limited': [429, 'requests', 'rate_limit_exceeded', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
  'quota-exceeded': [429, 'insufficient_quota', 'insufficient_quota', 'billing_error', 'RESOURCE_EXHAUSTED'],
  'server-error': [500, 'server_error', null, 'api_error', 'INTERNAL'],
  'bad-gateway': [502, 'server_error', null, 'api_error', 'UNAVAILABLE'],
  unavailable: [503, 'server_error', null, 'api_error', 'UNAVAILABLE'],
  'gateway-timeout': [504, 'server_error', null, 'timeout_error', 'DEADLINE_EXCEEDED'],
  overloaded: [529, 'server_error', null, 'overloaded_error', 'UNAVAILABLE'],
} as const;

/** Faults below the vendor's protocol: a broken connection or body. */
export const BREAKAGES = {
  /** A half-open socket: the connection is accepted, then stays silent. */
  hang: () => undefined,
  /** Headers, then silence; in a stream, silence after half of it. */
  stall: (response, body) => {
    begin(response, body);
    if (body.type === 'text/event-stream') response.write(halfOf(body));
    else response.flushHeaders();
  },
  reset: (response) => response.socket?.resetAndDestroy(),
  /** Headers and half of the body, then a regular close: a reset could overtake the bytes already sent. */
  'cut-mid-body': (response, body) => {
    begin(response, body);
    response.write(halfOf(body), () => response.socket?.destroy());
  },
  /** Half of the JSON, with a `content-length` that matches; half of a stream, which never has one. */
  truncated: (response, body) => {
    begin(response, { ...body, bytes: halfOf(body) });
    response.end(halfOf(body));
  },
  /** Half of the body, chunked, which ends as if it were whole. */
  'truncated-chunked': (response, body) => {
    response.writeHead(200, { 'content-type': body.type });
    response.write(halfOf(body));
    response.end();
  },
  /** An error in place of the rest: after half of a stream's events, or beside the JSON answer. */
  'failed-midway': (response, body) => {
    begin(response, body);
    response.end(body.bytes);
  },
  /** 200 with the sign-in page of a network, which the request never left. */
  html: (response) => {
    sendPage(response, 200, 'Sign in', 'Please sign in to use this network.');
  },
  /** 502 with a proxy's HTML page: the answer was lost behind the proxy. */
  'html-bad-gateway': (response) => {
    sendPage(response, 502, '502 Bad Gateway', 'The proxy got no valid answer from the server behind it.');
  },
} as const satisfies Record<string, (response: ServerResponse, body: Payload) => unknown>;

function halfOf({ bytes }: Payload): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}

function sendPage(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    `<!doctype html>\n<html><head><title>${title}</title></head><body><p>${text}</p></body></html>`,
  );
}

const HUGE_BYTES = 2 * 1024 * 1024;

/** Well-formed replies that are useless to the caller; their tokens are billed. */
export const SPOILED = {
  empty: { text: '' },
  refusal: { text: '', finish: 'refusal' },
  /** Stopped by a safety filter, which OpenAI and Google report elsewhere than a refusal. */
  filtered: { text: '', finish: 'filtered' },
  length: { text: 'This answer ends in the middle of a', finish: 'length' },
  /** Reasoning used up the output limit, so there is no text. */
  'length-without-text': { text: '', finish: 'length' },
  huge: { text: 'words '.repeat(HUGE_BYTES / 6 + 1).slice(0, HUGE_BYTES) },
} as const;

const tokens = (inputTokens: number, outputTokens: number): Usage => ({
  inputTokens,
  outputTokens,
  cachedInputTokens: 0,
  reasoningTokens: 0,
});
/** Counts above those of any test's text; multiples of an empty text's counts would be zero. */
const ABSURD = tokens(12_345, 24_690);

/** The model's own answer, whole and billed, with a flaw in its delivery or its token counts. */
export const FLAWS = {
  drip: {},
  'usage-missing': { stated: null },
  /** Zeros, as from servers that do not count; the tokens are billed nevertheless. */
  'usage-zero': { stated: tokens(0, 0) },
  /** Counts far from the texts; the provider bills them. */
  'usage-wrong': { usage: ABSURD, stated: ABSURD },
} as const;

/** Name of a fault: `{ fault: kind }` in a script, `fault:kind` in the log. */
export type FaultKind = ErrorFaultKind | BrokenFaultKind | keyof typeof SPOILED | keyof typeof FLAWS;
export type ErrorFaultKind = keyof typeof ERRORS;
export type BrokenFaultKind = keyof typeof BREAKAGES;

export interface Fault {
  readonly fault: FaultKind;
  /** Retry delay. This and the next two fields apply only to faults in `ERRORS`. */
  readonly retryAfter?: RetryAfter;
  /** Replaces the default message, for example by one in which a vendor repeats a key. */
  readonly message?: string;
  /** In the background: the response starts, and eventually fails with this error. */
  readonly late?: true;
  /** For `drip`: milliseconds from the first byte to the last; default 1000. */
  readonly ms?: number;
}

export function isIn<Table extends object>(table: Table, kind: PropertyKey): kind is keyof Table {
  return kind in table;
}
