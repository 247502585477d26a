import { clip } from './redact';

/** An answer other than 2xx, whichever SDK reports it. */
export interface HttpError {
  readonly status: number;
  /** In the provider's own words: may hold a key. */
  readonly reason: string;
  /** The provider's error codes, in lower case. */
  readonly codes: readonly string[];
  /** Google's typed details (google.rpc.Status); empty elsewhere. */
  readonly details: readonly unknown[];
  /** null with Google's SDK, which does not keep them. */
  readonly headers: Pick<Headers, 'get'> | null;
}

const MOST_DETAILS = 20;
const LONGEST_CODE = 100;

/**
 * Reads what all three SDKs throw for an answer other than 2xx; null for any other error.
 *
 * By shape, not by class: an SDK is loaded on first use only, and two copies of one do not share a class.
 */
export function readHttpError(error: unknown): HttpError | null {
  if (!isErrorLike(error)) return null;
  const { status, headers, error: parsed } = fieldsOf(error);
  if (typeof status !== 'number') return null;
  const body = fieldsOf('error' in error ? parsed : readJson(error.message));
  // The vendors' bodies hold the problem under `error`; OpenAI's SDK hands over what is inside.
  const problem = typeof body.error === 'object' && body.error !== null ? fieldsOf(body.error) : body;
  const details = firstOf(problem.details);
  // google.rpc.ErrorInfo and QuotaFailure.
  const quotas = details.flatMap((detail) => {
    const { reason, violations } = fieldsOf(detail);
    return [reason, ...firstOf(violations).map((violation) => fieldsOf(violation).quotaId)];
  });
  return {
    status,
    reason: plainReason(
      typeof problem.message === 'string' ? problem.message : error.message.replace(/^\d{3} /, ''),
    ),
    codes: [problem.code, problem.type, problem.status, ...quotas]
      .filter((name) => typeof name === 'string' || typeof name === 'number')
      .map((name) => String(name).slice(0, LONGEST_CODE).toLowerCase()),
    details,
    headers: isHeaders(headers) ? headers : null,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Readonly<Record<string, unknown>>;
}

function firstOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_DETAILS) : [];
}

/** Proxies answer with a page of HTML, which Google's SDK puts into a body of its own making. */
function plainReason(reason: string): string {
  const page = clip(reason.trimStart());
  if (!/^<(!doctype|html)\b/i.test(page)) return reason;
  const title = /<title[^<>]{0,200}>([^<]{0,4096})/i.exec(page)?.[1]?.trim() ?? '';
  return title === '' ? 'a web page' : `a web page titled "${title}"`;
}

/** Google's SDK puts the whole body, as JSON, into the message. */
function readJson(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    return null;
  }
}

function isHeaders(value: unknown): value is Pick<Headers, 'get'> {
  return typeof fieldsOf(value).get === 'function';
}

/** A fault below HTTP. */
export interface NetworkFault {
  /** The system's or undici's code; null where the request was rejected before any connection was tried. */
  readonly code: string | null;
  /** A request that was sent may have been billed. */
  readonly sent: boolean;
  readonly reason: string;
}

/**
 * A request that broke below HTTP, thrown by our transport into the SDKs.
 *
 * Its message never mentions a time-out: OpenAI's and Anthropic's SDKs take every error whose text does for a lost
 * answer and drop the code, and then a connection that was never made could no longer be told from an answer that
 * never came.
 */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';

  constructor(readonly fault: NetworkFault) {
    super('The request broke off below HTTP.');
  }
}

const SOCKET_CODE =
  /^(ECONN[A-Z]{1,20}|EPIPE|ETIMEDOUT|EHOST[A-Z]{1,20}|ENET[A-Z]{1,20}|EADDRNOTAVAIL|ENOTFOUND|EAI_[A-Z]{1,20}|UND_ERR_\w{1,50}|HPE_\w{1,50})$/;
const HANDSHAKE_CODE = /^((CERT|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_\w{1,50}|EPROTO)$/;
const BEFORE_SENDING = new Set<unknown>(['connect', 'getaddrinfo']);

/** Finds what broke below HTTP in an error, its causes and its parts; null where nothing there did. */
export function readNetworkFault(error: unknown): NetworkFault | null {
  for (const link of causesOf(error)) {
    if (link instanceof NetworkError) return link.fault;
    const fault = faultOf(link);
    if (fault !== null) return fault;
  }
  return null;
}

function faultOf(error: ErrorLike): NetworkFault | null {
  const { message: reason } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (HANDSHAKE_CODE.test(code)) return { code, sent: false, reason };
  if (SOCKET_CODE.test(code)) {
    const syscall = 'syscall' in error ? error.syscall : undefined;
    return { code, sent: code !== 'UND_ERR_CONNECT_TIMEOUT' && !BEFORE_SENDING.has(syscall), reason };
  }
  // fetch's own words for a body that broke off, and for a URL that it will not ask.
  if (reason === 'terminated') return { code: 'terminated', sent: true, reason };
  if (reason === 'bad port' || reason === 'unknown scheme') return { code: null, sent: false, reason };
  return null;
}

/** Innermost first: `fetch failed` and the SDKs' wrappers say less than what they wrap. */
export function causesOf(error: unknown): ErrorLike[] {
  const chain: ErrorLike[] = [];
  let link: unknown = error;
  while (isErrorLike(link) && !chain.includes(link)) {
    chain.unshift(link);
    link = 'errors' in link && Array.isArray(link.errors) ? link.errors[0] : link.cause;
  }
  return chain;
}

interface ErrorLike {
  readonly name: string;
  readonly message: string;
  readonly cause?: unknown;
}

/** By shape: `instanceof` fails between realms, and fetch's errors come from another than a test's. */
export function isErrorLike(value: unknown): value is ErrorLike {
  const { name, message } = fieldsOf(value);
  return typeof name === 'string' && typeof message === 'string';
}

/** No provider is waited for longer: the run's own wall clock is worth more than a far date. */
const LONGEST_MS = 10 * 60 * 1000;

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
  const info = details.map(fieldsOf).find((each) => textOf(each['@type']).endsWith('google.rpc.RetryInfo'));
  const delay =
    readNumber(header('retry-after-ms'), 1) ??
    readNumber(header('retry-after'), 1000) ??
    readTime(header('retry-after'), readTime(header('date')) ?? now) ??
    readNumber(textOf(info?.retryDelay).replace(/s$/, ''), 1000);
  return delay === null || delay <= 0 ? null : Math.min(Math.ceil(delay), LONGEST_MS);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readNumber(digits: string, unitMs: number): number | null {
  return /^\d{1,15}(\.\d{1,15})?$/.test(digits) ? Number(digits) * unitMs : null;
}

/** The oldest of HTTP's three date forms names no zone; all of them mean GMT (RFC 9110, section 5.6.7). */
function readTime(date: string, from = 0): number | null {
  const time = Date.parse(date.endsWith('GMT') ? date : `${date} GMT`);
  return Number.isNaN(time) ? null : time - from;
}
