import { reasonOf } from '../../errors';
import { openFetch } from '../../network/fetch';
import { Meter } from './meter';

/**
 * Returns a `fetch` for one server: to its own origin alone, without following redirects, through the proxies of the
 * environment. What it sends is measured. A stream of its own, in which it might ask something, is not opened: a server
 * that ended it at once would be asked for it without end.
 * @param onExcess called with the reason before a response breaks off
 */
export function boundedFetch(origin: string, onExcess: (reason: string) => void) {
  return async (input: string | URL, init?: RequestInit): Promise<Response> => {
    if (new URL(input).origin !== origin)
      throw new Error(`a request to another address than ${origin} was refused`);
    // A stream that broke off is resumed.
    if (init?.method === 'GET' && !new Headers(init.headers).has('last-event-id')) {
      return new Response(null, { status: 405 });
    }
    const send = await openFetch();
    const response = await send(input, { ...init, redirect: 'manual' });
    const { body, status, statusText, headers } = response;
    if (status >= 300 && status < 400) {
      await body?.cancel();
      throw new Error(
        `${origin} redirects, and redirects are not followed: put the final address into "url"`,
      );
    }
    if (body === null) return response;
    const isStream = (headers.get('content-type') ?? '').includes('text/event-stream');
    return new Response(body.pipeThrough(measured(isStream, onExcess)), { status, statusText, headers });
  };
}

function measured(isStream: boolean, onExcess: (reason: string) => void): TransformStream<Uint8Array> {
  const meter = new Meter();
  return new TransformStream({
    transform: (chunk, controller) => {
      try {
        meter.count(chunk, isStream);
        controller.enqueue(chunk);
      } catch (error) {
        onExcess(reasonOf(error));
        controller.error(error);
      }
    },
  });
}

/** Least time before a broken stream is resumed, whatever the server asks for. */
const RESUME_MS = 1000;

/** Waits before a stream is resumed, and returns what ends the waiting. */
export function resumeLater(resume: () => void, delayMs: number): () => void {
  const timer = setTimeout(resume, Math.max(delayMs, RESUME_MS)).unref();
  return () => {
    clearTimeout(timer);
  };
}
