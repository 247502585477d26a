import { openFetch } from '../../network/fetch';
import { type Diagnosis, DiagnosedError, diagnoseHttp, type HttpAnswer } from './diagnose';
import { diagnoseProxied, throughProxy } from './proxied';
import { UnreadableReply } from './reply';

const MAX_RESPONSE_MIB = 64;

/** Size limit of a decoded response: twice the longest text that the store accepts. */
export const MAX_RESPONSE_BYTES = MAX_RESPONSE_MIB * 1024 * 1024;

/** Timeout for the SDKs, so that a request's signal fires first. Without one, Anthropic's refuses large limits. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Error of a request without a whole 2xx answer, thrown through the SDKs, since each would describe it differently and
 * drop parts of it. OpenAI's and Anthropic's take every error whose text mentions a timeout for one of theirs.
 */
export class TransportError extends DiagnosedError {
  override readonly name = 'TransportError';
  override readonly code = 'Transport';

  /** @param answer the response, if there was one that is not 2xx */
  constructor(
    readonly diagnosis: Diagnosis,
    readonly answer: HttpAnswer | null = null,
  ) {
    super('The request brought no answer.');
  }
}

/**
 * Returns the `fetch` for an SDK, which sends only these headers. The SDK's own are dropped: it adds those in
 * variables such as `OPENAI_CUSTOM_HEADERS`, whose secrets must not reach the address of a card.
 * @param options.ofRequest name of the one header that may differ from request to request
 * @param options.proxy the card's own proxy
 */
export function sendWith(
  headers: Readonly<Record<string, string | null>>,
  { ofRequest, proxy }: { readonly ofRequest?: string; readonly proxy: string | undefined },
): typeof fetch {
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
    const response = await sendOnce(input, { ...init, headers: sent }, proxy);
    if (response.ok) return response;
    const { status, headers: answered } = response;
    const answer = { status, headers: answered, body: await response.text() };
    throw new TransportError(throughProxy(diagnoseHttp(answer), status, input, proxy), answer);
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
 * @param proxy the card's own; default: the one that the environment names for the address
 * @throws TransportError, unless the signal aborted it
 */
export async function sendOnce(
  input: string | URL | Request,
  init?: RequestInit,
  proxy?: string,
): Promise<Response> {
  try {
    const send = await openFetch(proxy);
    const response = await send(input, { ...init, redirect: 'manual' });
    return isEventStream(response) ? response : await readBounded(response);
  } catch (error) {
    if (init?.signal?.aborted === true) throw error;
    throw new TransportError(diagnoseProxied(error, input, proxy));
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
