import { UnreadableReply } from './reply';

type Dispatcher = NonNullable<RequestInit['dispatcher']>;

/** Where Node keeps the dispatcher of its own `fetch`, and where a user's proxy agent is put. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

const MAX_RESPONSE_MIB = 64;

/** Decoded: twice the longest text that the store takes. */
export const MAX_RESPONSE_BYTES = MAX_RESPONSE_MIB * 1024 * 1024;

/** For an SDK's own clock, which must not run out before a request's signal. Without one, Anthropic's refuses large limits. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** A response other than 2xx. Its body is in the provider's own words: it may hold a key. */
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
 * A request without a 2xx response, thrown into the SDKs: each would describe it in a way of its own, and drop some of it.
 * OpenAI's and Anthropic's take every error whose text mentions a time-out for one of theirs.
 */
export class TransportError extends Error {
  override readonly name = 'TransportError';

  constructor(readonly problem: HttpError | NetworkFault) {
    super('The request brought no answer.');
  }
}

/**
 * The `fetch` under an SDK, with the only headers that leave. The SDK's own are dropped: it adds what it finds in
 * variables such as `OPENAI_CUSTOM_HEADERS`, which are other people's secrets at the address of a card.
 * @param ofRequest name of the header that may differ from request to request
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

/** Whether a response is written as it is sent. */
export function isEventStream({ ok, headers }: Response): boolean {
  return ok && /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

export function tooLong(): Error {
  return new UnreadableReply(`it has more than ${MAX_RESPONSE_MIB} MiB`);
}

/**
 * One request goes out, and a response that does not end is broken off; a stream is left to be read. Redirects are not
 * followed: they would be a second request, which takes a key in any header but `Authorization` to another host.
 * @throws TransportError for what breaks below HTTP
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

/** Counted as it is decoded: a few kilobytes of gzip may stand for gigabytes. */
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
    // An error is told by its status, however much of its text came.
    if (ok) throw error;
  }
  // Takes a status unknown to HTTP for a server's failure; a response cannot be made with it.
  const known = Math.min(status, 599);
  return new Response(body && Buffer.concat(chunks), { status: known, statusText, headers });
}

/** Node's dispatcher gives up after 300 s without headers, and a model may think for longer: the card's limit rules. */
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

/** Finds what broke below HTTP in an error, its causes and its parts; null where nothing there did. */
export function readNetworkFault(error: unknown): NetworkFault | null {
  for (const { code, syscall, message: reason } of causesOf(error)) {
    if (BEFORE_SENDING.test(String(code))) return { sent: false, reason };
    if (IN_BETWEEN.test(String(code))) return { sent: syscall !== 'connect', reason };
    // fetch's own word for a body that broke off.
    if (reason === 'terminated') return { sent: true, reason };
  }
  return null;
}

type Cause = Error & Readonly<Partial<Record<'code' | 'syscall' | 'errors', unknown>>>;

/** Innermost first: `fetch failed` and the SDKs' wrappers say less than what they wrap. */
export function causesOf(error: unknown): Cause[] {
  const chain: Cause[] = [];
  let link = error;
  while (isError(link) && !chain.includes(link)) {
    chain.unshift(link);
    // The first of several addresses, all of which failed.
    link = Array.isArray(link.errors) ? link.errors[0] : link.cause;
  }
  return chain;
}

/** By shape: `instanceof` fails between realms, and fetch's errors come from another than a test's. */
function isError(value: unknown): value is Cause {
  return typeof value === 'object' && value !== null && 'name' in value && 'message' in value;
}
