import { randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { unlessAborted, within } from '../runtime/turns';
import type { Env } from './gateway';
import { asRefusal, type Refusal } from './refusal';

/** Longest silence of a stream: proxies close a connection that is idle for a minute. */
const KEEP_ALIVE_MS = 10_000;
/** Number of silences per vendor event: clients ignore comments, and time out after 120 s. */
const SILENCES_PER_EVENT = 4;
/** How long a client may leave sent data unread. */
const UNREAD_MS = 60_000;

interface Framed {
  /** Opens the frames to send. The signal is aborted if the client leaves. */
  readonly open: (gone: AbortSignal) => AsyncIterator<EventFrame>;
  /** Returns a vendor's frame without content; null: a comment. */
  readonly nothing: () => EventFrame | null;
  /** Returns the vendor's frame for a failure after the status was sent. */
  readonly failed: (refusal: Refusal) => EventFrame;
  /** Ends the stream between two frames. */
  readonly stop: {
    readonly signal: AbortSignal;
    /** Says how to go on; null: the client resumes by itself. */
    readonly refusal: Refusal | null;
  };
  /** Logs an error that concerns no caller. */
  readonly say: (line: string) => void;
  /** Called once if the client leaves before the last frame. */
  readonly onGone?: (() => void) | undefined;
}

const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Keeps nginx from buffering the stream.
  'x-accel-buffering': 'no',
};

const DONE = { done: true, value: undefined } as const;
const COMMENT = ': still working\n\n';

/**
 * Sends server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), as fast as the client
 * reads: the first bytes at once, a keep-alive after ten seconds of silence. Cuts off a client that stops reading.
 */
export function streamEvents(
  c: Context<Env>,
  { open, nothing, failed, stop, say, onGone }: Framed,
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
  let next: Promise<IteratorResult<EventFrame>> | null = null;
  let silences = 0;
  let isLast = false;
  const close = (): void => {
    clearTimeout(unread);
    // The generator may get no further `next` call, so it must be ended here.
    gone.abort();
    void frames.return?.().catch(() => undefined);
  };
  /** Returns the text of the next frame, or null after the last one. */
  const nextText = async (): Promise<Iterator<string> | null> => {
    if (isLast) return null;
    next ??= frames.next();
    const coming = within(KEEP_ALIVE_MS, next);
    const news = await unlessAborted(stop.signal, coming).catch((error: unknown) => {
      isLast = true;
      const refusal = stop.signal.aborted ? stop.refusal : asRefusal(error, say);
      if (refusal === null) return DONE;
      c.set('refused', refusal);
      return { value: failed(refusal), done: false as const };
    });
    if (news === null) {
      silences += 1;
      const event = silences % SILENCES_PER_EVENT === 0 ? nothing() : null;
      return event === null ? [COMMENT].values() : textOfFrame(event);
    }
    if (news.done === true) return null;
    [next, silences] = [null, 0];
    return textOfFrame(news.value);
  };
  let text: Iterator<string> = [': conductor\n\n'].values();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      clearTimeout(unread);
      for (let piece = text.next(); ; piece = text.next()) {
        if (piece.done !== true) {
          controller.enqueue(encoder.encode(piece.value));
          awaitReader();
          return;
        }
        const following = await nextText();
        if (following === null) break;
        text = following;
      }
      close();
      controller.close();
    },
    cancel: () => {
      close();
      onGone?.();
    },
  });
  return c.body(body, 200, { ...EVENT_STREAM_HEADERS, ...headers });
}

/** An event as it is sent. */
export interface EventFrame {
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  readonly data: object | string;
}

/** Returns a frame: `event` and `id`, if given, and `data` as JSON. */
export function frameOf(data: object | string, event?: string, id?: string): EventFrame {
  return { data, event, id };
}

/** Length of a string from which it is sent in pieces. */
const PIECE = 16 * 1024;
/** Stands for a long string in JSON; nobody outside this process knows it. */
const MARK = randomUUID();

/**
 * Yields the text of a frame in pieces of bounded length, each made when it is needed: a client that does not read
 * leaves no copy of a long answer here.
 */
export function* textOfFrame({ event, id, data }: EventFrame): Generator<string> {
  let head = event === undefined ? '' : `event: ${event}\n`;
  if (id !== undefined) head += `id: ${id}\n`;
  const long: string[] = [];
  const json =
    typeof data === 'string'
      ? data
      : JSON.stringify(data, (_, value: unknown) => {
          if (typeof value !== 'string' || value.length <= PIECE) return value;
          long.push(value);
          return MARK;
        });
  const [first = '', ...others] = json.split(`"${MARK}"`);
  let piece = `${head}data: ${first}`;
  for (const [index, other] of others.entries()) {
    yield `${piece}"`;
    yield* escaped(long[index] ?? '');
    piece = `"${other}`;
  }
  yield `${piece}\n\n`;
}

/** Yields the characters of a string as JSON has them, without the quotes. */
function* escaped(text: string): Generator<string> {
  for (let from = 0; from < text.length; from += PIECE) {
    yield JSON.stringify(text.slice(from, from + PIECE)).slice(1, -1);
  }
}
