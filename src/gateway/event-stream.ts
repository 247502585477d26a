import type { Context } from 'hono';
import { within } from '../turns';
import type { Env } from './gateway';

/** Longest silence of a stream: proxies close a connection that is idle for a minute. */
const KEEP_ALIVE_MS = 10_000;
/** How often one of a vendor's own events must be sent: clients count those, not comments, and give up after 120 s. */
const SILENCES_PER_EVENT = 4;
/** How long a client may leave what was sent unread. */
const UNREAD_MS = 60_000;

interface Framed {
  /** Frames as they are sent, each with its blank line. */
  readonly frames: AsyncIterator<string>;
  /** A frame of the vendor's that says nothing. */
  readonly nothing: () => string;
  /** The vendor's frame for a failure that came too late for a status. */
  readonly failed: (error: unknown) => string;
  /** Called once where the client has gone before the last frame. */
  readonly onGone: () => void;
}

const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // nginx would keep a stream back until its buffer is full.
  'x-accel-buffering': 'no',
};

/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as fast as the client reads them: the
 * first bytes at once, a comment wherever nothing was said for ten seconds. A client that leaves them unread is cut off.
 */
export function streamEvents(
  c: Context<Env>,
  { frames, nothing, failed, onGone }: Framed,
  headers: Readonly<Record<string, string>>,
): Response {
  const encoder = new TextEncoder();
  // The server cancels the body of a response that is destroyed.
  const unread = new Watch(UNREAD_MS, () => c.env.outgoing.destroy());
  let next: Promise<IteratorResult<string>> | null = null;
  let silences = 0;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(encoder.encode(': conductor\n\n'));
      unread.begin();
    },
    pull: async (controller) => {
      unread.end();
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
      unread.begin();
    },
    cancel: () => {
      unread.end();
      onGone();
      // Nobody will ask for the next frame, in which they would see that they are to end.
      void frames.return?.().catch(() => undefined);
    },
  });
  return c.body(body, 200, { ...EVENT_STREAM_HEADERS, ...headers });
}

class Watch {
  #clock: NodeJS.Timeout | undefined;

  constructor(
    private readonly ms: number,
    private readonly late: () => unknown,
  ) {}

  begin(): void {
    this.#clock = setTimeout(this.late, this.ms).unref();
  }

  end(): void {
    clearTimeout(this.#clock);
  }
}

/** `event: NAME`, where there is one, and `data: JSON`. */
export function frameOf(data: object | string, event?: string, id?: string): string {
  const lines = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `data: ${typeof data === 'string' ? data : JSON.stringify(data)}`,
  ];
  return `${lines.join('\n')}\n\n`;
}
