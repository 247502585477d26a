import type { Context } from 'hono';
import { within } from '../turns';
import type { Env } from './gateway';

/** Longest silence of a stream: proxies close a connection that is idle for a minute. */
const KEEP_ALIVE_MS = 10_000;
/** Number of silences per vendor event: clients ignore comments, and time out after 120 s. */
const SILENCES_PER_EVENT = 4;
/** How long a client may leave sent data unread. */
const UNREAD_MS = 60_000;

interface Framed {
  /** Opens the frames to send, each with its blank line. The signal is aborted if the client leaves. */
  readonly open: (gone: AbortSignal) => AsyncIterator<string>;
  /** Returns a vendor's frame without content. */
  readonly nothing: () => string;
  /** Returns the vendor's frame for a failure after the status was sent. */
  readonly failed: (error: unknown) => string;
  /** Called once if the client leaves before the last frame. */
  readonly onGone?: (() => void) | undefined;
}

const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Keeps nginx from buffering the stream.
  'x-accel-buffering': 'no',
};

/**
 * Sends server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as fast as the client
 * reads: the first bytes at once, a keep-alive after ten seconds of silence. Cuts off a client that stops reading.
 */
export function streamEvents(
  c: Context<Env>,
  { open, nothing, failed, onGone }: Framed,
  headers: Readonly<Record<string, string>>,
): Response {
  const encoder = new TextEncoder();
  const gone = new AbortController();
  const frames = open(gone.signal);
  let unread: NodeJS.Timeout | undefined;
  const awaitReader = (): void => {
    // Destroying the response makes the server cancel this body.
    unread = setTimeout(() => c.env.outgoing.destroy(), UNREAD_MS).unref();
  };
  let next: Promise<IteratorResult<string>> | null = null;
  let silences = 0;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(encoder.encode(': conductor\n\n'));
      awaitReader();
    },
    pull: async (controller) => {
      clearTimeout(unread);
      next ??= frames.next();
      const frame = await within(KEEP_ALIVE_MS, next).catch(failed);
      if (typeof frame === 'string') {
        controller.enqueue(encoder.encode(frame));
        controller.close();
        return;
      }
      if (frame === null) {
        silences += 1;
        const text = silences % SILENCES_PER_EVENT === 0 ? nothing() : ': still working\n\n';
        controller.enqueue(encoder.encode(text));
      } else if (frame.done === true) {
        controller.close();
        return;
      } else {
        [next, silences] = [null, 0];
        controller.enqueue(encoder.encode(frame.value));
      }
      awaitReader();
    },
    cancel: () => {
      clearTimeout(unread);
      gone.abort();
      onGone?.();
      // The generator gets no further `next` call, so it must be ended here.
      void frames.return?.().catch(() => undefined);
    },
  });
  return c.body(body, 200, { ...EVENT_STREAM_HEADERS, ...headers });
}

/** Returns a frame: `event` and `id`, if given, and `data` as JSON. */
export function frameOf(data: object | string, event?: string, id?: string): string {
  const lines = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `data: ${typeof data === 'string' ? data : JSON.stringify(data)}`,
  ];
  return `${lines.join('\n')}\n\n`;
}
