import { NetworkError, readNetworkFault } from './http-error';
import { UnreadableReply } from './reply';

type Dispatcher = NonNullable<RequestInit['dispatcher']>;

/** Where Node keeps the dispatcher of its own `fetch`, and where a user's proxy agent is put. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** Twice the longest text that the store takes, decoded. */
const MAX_RESPONSE_MIB = 64;

/**
 * The `fetch` under an SDK, with the only headers that leave. The SDK's own are dropped: it adds what it finds in
 * variables such as `OPENAI_CUSTOM_HEADERS`, which are other people's secrets at the address of a card.
 *
 * @param headers of the vendor; null: not sent
 */
export function sendWith(headers: Readonly<Record<string, string | null | undefined>>): typeof fetch {
  const all = new Headers({
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'temporal-conductor',
  });
  for (const [name, value] of Object.entries(headers)) if (value != null) all.set(name, value);
  return (input, init) => sendOnce(input, { ...init, headers: all });
}

/**
 * One request goes out, what breaks below HTTP keeps its code, and a response that does not end is broken off.
 *
 * Redirects are not followed: they would be a second request, and only `Authorization` is taken off on the way to
 * another host, so a key in any other header would go with it.
 */
export async function sendOnce(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const dispatcher = patientDispatcher();
  try {
    return await readBounded(
      await fetch(input, { ...init, redirect: 'manual', ...(dispatcher && { dispatcher }) }),
    );
  } catch (error) {
    const fault = init?.signal?.aborted === true ? null : readNetworkFault(error);
    throw fault === null ? error : new NetworkError(fault);
  }
}

/**
 * Counted as it is decoded: a few kilobytes of gzip may stand for gigabytes. No SDK is asked to stream, so the whole is
 * read here, which is cheaper than a stream through a counter.
 */
async function readBounded(response: Response): Promise<Response> {
  const { body, status, statusText, headers, ok } = response;
  const arriving: AsyncIterable<Uint8Array> | readonly Uint8Array[] = body ?? [];
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of arriving) {
      bytes += chunk.byteLength;
      if (bytes > MAX_RESPONSE_MIB * 1024 * 1024) {
        throw new UnreadableReply(`it has more than ${MAX_RESPONSE_MIB} MiB`);
      }
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
