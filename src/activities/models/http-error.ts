import { z } from 'zod';
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

const text = z.string().optional().catch(undefined);
const named = z
  .union([z.string(), z.number().transform(String)])
  .optional()
  .catch(undefined);
const problemSchema = z.object({
  message: text,
  code: named,
  type: named,
  status: named,
  details: z.array(z.unknown()).catch([]).default([]),
});
/** The vendors' bodies hold the problem under `error`; OpenAI's SDK hands over what is inside. */
const bodySchema = z.union([
  z.object({ error: problemSchema }).transform(({ error }) => error),
  problemSchema,
]);
/** google.rpc.ErrorInfo and QuotaFailure. */
const detailSchema = z.object({
  reason: z.string().optional(),
  violations: z.array(z.object({ quotaId: z.string().optional() })).default([]),
});

const MOST_DETAILS = 20;
const LONGEST_CODE = 100;

/**
 * Reads what all three SDKs throw for an answer other than 2xx; null for any other error.
 *
 * By shape, not by class: an SDK is loaded on first use only, and two copies of one do not share a class.
 */
export function readHttpError(error: unknown): HttpError | null {
  if (!isErrorLike(error) || !('status' in error) || typeof error.status !== 'number') return null;
  const body = bodySchema.safeParse('error' in error ? error.error : readJson(error.message));
  const { message, details: all = [], code, type, status } = body.data ?? {};
  const details = all.slice(0, MOST_DETAILS);
  const quotas = details.flatMap((detail) => {
    const { reason, violations = [] } = detailSchema.safeParse(detail).data ?? {};
    return [reason, ...violations.slice(0, MOST_DETAILS).map(({ quotaId }) => quotaId)];
  });
  return {
    status: error.status,
    reason: plainReason(message ?? error.message.replace(/^\d{3} /, '')),
    codes: [code, type, status, ...quotas].flatMap(
      (name) => name?.slice(0, LONGEST_CODE).toLowerCase() ?? [],
    ),
    details,
    headers: 'headers' in error && isHeaders(error.headers) ? error.headers : null,
  };
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
  return typeof value === 'object' && value !== null && 'get' in value && typeof value.get === 'function';
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
  const { name, message } = Object(value) as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && typeof message === 'string';
}

/** No provider is waited for longer: the run's own wall clock is worth more than a far date. */
const LONGEST_MS = 10 * 60 * 1000;

const retryInfoSchema = z.object({
  '@type': z.string().endsWith('google.rpc.RetryInfo'),
  retryDelay: z.string().endsWith('s'),
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
  const [info = ''] = details.flatMap((detail) => retryInfoSchema.safeParse(detail).data?.retryDelay ?? []);
  const delay =
    readNumber(header('retry-after-ms'), 1) ??
    readNumber(header('retry-after'), 1000) ??
    readTime(header('retry-after'), readTime(header('date')) ?? now) ??
    readNumber(info.slice(0, -1), 1000);
  return delay === null || delay <= 0 ? null : Math.min(Math.ceil(delay), LONGEST_MS);
}

function readNumber(digits: string, unitMs: number): number | null {
  return /^\d{1,15}(\.\d{1,15})?$/.test(digits) ? Number(digits) * unitMs : null;
}

/** The oldest of HTTP's three date forms names no zone; all of them mean GMT (RFC 9110, section 5.6.7). */
function readTime(date: string, from = 0): number | null {
  const time = Date.parse(date.endsWith('GMT') ? date : `${date} GMT`);
  return Number.isNaN(time) ? null : time - from;
}
