import { NetworkError, readNetworkFault } from './http-error';

type Dispatcher = NonNullable<RequestInit['dispatcher']>;

/** Where Node keeps the dispatcher of its own `fetch`, and where a user's proxy agent is put. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/**
 * The `fetch` under all three SDKs: one request goes out, and what breaks below HTTP keeps its code.
 *
 * Redirects are not followed: they would be a second request, and only `Authorization` is taken off on the way to
 * another host, so a key in any other header would go with it.
 */
export async function sendOnce(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const dispatcher = patientDispatcher();
  try {
    return await fetch(input, { ...init, redirect: 'manual', ...(dispatcher && { dispatcher }) });
  } catch (error) {
    const fault = init?.signal?.aborted === true ? null : readNetworkFault(error);
    throw fault === null ? error : new NetworkError(fault);
  }
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
