import { UnreadableReply } from './reply';

type Dispatcher = NonNullable<RequestInit['dispatcher']>;

/** Key under which Node keeps the dispatcher of its own `fetch`, which may be a user's proxy agent. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

const MAX_RESPONSE_MIB = 64;

/** Size limit of a decoded response: twice the longest text that the store accepts. */
export const MAX_RESPONSE_BYTES = MAX_RESPONSE_MIB * 1024 * 1024;

/** Timeout for the SDKs, so that a request's signal fires first. Without one, Anthropic's refuses large limits. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** A response other than 2xx. The provider's body may contain a key. */
export interface HttpError {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly body: string;
}

/** A fault below HTTP. A request that was sent may have been billed. */
export interface NetworkFault {
  readonly sent: boolean;
  readonly reason: string;
}

/**
 * Error of a request without a 2xx response, thrown through the SDKs, since each would describe it differently and
 * drop parts of it. OpenAI's and Anthropic's take every error whose text mentions a timeout for one of theirs.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError';

  constructor(readonly problem: HttpError | NetworkFault) {
    super('The request brought no answer.');
  }
}

/**
 * Returns the `fetch` for an SDK, which sends only these headers. The SDK's own are dropped: it adds those in
 * variables such as `OPENAI_CUSTOM_HEADERS`, whose secrets must not reach the address of a card.
 * @param ofRequest name of the one header that may differ from request to request
 */
export function sendWith(headers: Readonly<Record<string, string | null>>, ofRequest?: string): typeof fetch {
  const all = new Headers({
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'temporal-conductor',
  });
  for (const [name, value] of Object.entries(headers)) if (value !== null) all.set(name, value);
  return async (input, init) => {
    const sent = new Headers(all);
    const own = ofRequest && new Headers(init?.headers).get(ofRequest);
    if (ofRequest && own) sent.set(ofRequest, own);
    const response = await sendOnce(input, { ...init, headers: sent });
    if (response.ok) return response;
    const { status, headers } = response;
    throw new TransportError({ status, headers, body: await response.text() });
  };
}

/** Returns whether a successful response is a stream of server-sent events. */
export function isEventStream({ ok, headers }: Response): boolean {
  return ok && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

export function tooLong(): Error {
  return new UnreadableReply(`it has more than ${MAX_RESPONSE_MIB} MiB`);
}

/**
 * Sends one request and reads the response, up to a size limit; leaves a stream to the caller. Redirects are not
 * followed: they would be a second request, which carries a key in any header but `Authorization` to another host.
 * @throws TransportError for a fault below HTTP
 */
export async function sendOnce(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const dispatcher = patientDispatcher();
  try {
    const options = { ...init, redirect: 'manual', ...(dispatcher && { dispatcher }) } as const;
    const response = await fetch(input, options);
    return isEventStream(response) ? response : await readBounded(response);
  } catch (error) {
    const fault = init?.signal?.aborted === true ? null : readNetworkFault(error);
    throw fault === null ? error : new TransportError(fault);
  }
}

/** Reads a response up to a size limit, counted after decoding: a few kilobytes of gzip may expand to gigabytes. */
async function readBounded(response: Response): Promise<Response> {
  const { body, status, statusText, headers, ok } = response;
  const arriving: AsyncIterable<Uint8Array> | readonly Uint8Array[] = body ?? [];
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of arriving) {
      bytes += chunk.byteLength;
      if (bytes > MAX_RESPONSE_BYTES) throw tooLong();
      chunks.push(chunk);
    }
  } catch (error) {
    // An error response needs only its status, however much of its body arrived.
    if (ok) throw error;
  }
  // Treats a status above 599 as a server failure, since `Response` does not accept it.
  const known = Math.min(status, 599);
  return new Response(body && Buffer.concat(chunks), { status: known, statusText, headers });
}

/** Returns a dispatcher without timeouts: Node's gives up after 300 s without headers, but a model may take longer. */
function patientDispatcher(): Dispatcher | undefined {
  const shared: unknown = Reflect.get(globalThis, GLOBAL_DISPATCHER);
  if (!isDispatcher(shared)) return undefined;
  return shared.compose(
    (dispatch) => (options, handler) => dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  );
}

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && 'compose' in value && 'dispatch' in value;
}

const BEFORE_SENDING =
  /^(?:(?:CERT|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_\w{1,50}|EPROTO|ENOTFOUND|EAI_[A-Z]{1,20}|UND_ERR_CONNECT_TIMEOUT)$/;
const IN_BETWEEN =
  /^(?:ECONN[A-Z]{1,20}|EPIPE|ETIMEDOUT|EHOST[A-Z]{1,20}|ENET[A-Z]{1,20}|EADDRNOTAVAIL|UND_ERR_\w{1,50}|HPE_\w{1,50})$/;

/** Finds a fault below HTTP in an error, its causes and its parts. Returns null if there is none. */
export function readNetworkFault(error: unknown): NetworkFault | null {
  for (const { code, syscall, message: reason } of causesOf(error)) {
    if (BEFORE_SENDING.test(String(code))) return { sent: false, reason };
    if (IN_BETWEEN.test(String(code))) return { sent: syscall !== 'connect', reason };
    // Message of `fetch` for a body that broke off.
    if (reason === 'terminated') return { sent: true, reason };
  }
  return null;
}

type Cause = Error & Readonly<Partial<Record<'code' | 'syscall' | 'errors', unknown>>>;

/** Returns an error and its causes, innermost first: `fetch failed` and the SDKs' wrappers say less than these. */
export function causesOf(error: unknown): Cause[] {
  const chain: Cause[] = [];
  let link = error;
  while (isError(link) && !chain.includes(link)) {
    chain.unshift(link);
    // Takes the first of several addresses that all failed.
    link = Array.isArray(link.errors) ? link.errors[0] : link.cause;
  }
  return chain;
}

/** Checks the shape: `instanceof` fails across realms, and in tests the errors of `fetch` come from another one. */
function isError(value: unknown): value is Cause {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value;
}
