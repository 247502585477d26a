import { type ErrorLike, isErrorLike } from './error-like';

/** What broke below HTTP. Whether the request had been sent decides whether it may have been billed. */
export interface NetworkFault {
  /** The system's or undici's code; null where the request was rejected before any connection was tried. */
  readonly code: string | null;
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
  /^(ECONN[A-Z]+|EPIPE|ETIMEDOUT|EHOST[A-Z]+|ENET[A-Z]+|EADDRNOTAVAIL|ENOTFOUND|EAI_[A-Z]+|UND_ERR_\w+|HPE_\w+)$/;
const HANDSHAKE_CODE =
  /^(CERT_\w+|ERR_TLS_\w+|ERR_SSL_\w+|EPROTO|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;
const BEFORE_SENDING = new Set(['connect', 'getaddrinfo']);

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
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = error.message;
  if (HANDSHAKE_CODE.test(code)) return { code, sent: false, reason };
  if (SOCKET_CODE.test(code)) return { code, sent: !isBeforeSending(error, code), reason };
  // fetch's own words for a body that broke off, and for a URL that it will not ask.
  if (error.message === 'terminated') return { code: 'terminated', sent: true, reason };
  if (error.message === 'bad port' || error.message === 'unknown scheme') {
    return { code: null, sent: false, reason };
  }
  return null;
}

function isBeforeSending(error: ErrorLike, code: string): boolean {
  const syscall = 'syscall' in error ? error.syscall : undefined;
  return code === 'UND_ERR_CONNECT_TIMEOUT' || (typeof syscall === 'string' && BEFORE_SENDING.has(syscall));
}

/** Innermost first: `fetch failed` and the SDKs' wrappers say less than what they wrap. */
function causesOf(error: unknown): ErrorLike[] {
  const chain: ErrorLike[] = [];
  let link: unknown = error;
  while (isErrorLike(link) && !chain.includes(link)) {
    chain.unshift(link);
    link = 'errors' in link && Array.isArray(link.errors) ? link.errors[0] : link.cause;
  }
  return chain;
}
