import { FAILURES } from '../../protocol/failures';
import { type Diagnosis, readJson, reasonIn } from './diagnose';
import type { ModelRequest } from './model';
import { UnreadableReply } from './reply';
import { isEventStream, MAX_RESPONSE_BYTES, NO_TIMEOUT_MS, tooLong, TransportError } from './transport';

/** Assembles the events of one vendor's stream. */
export interface Assembly {
  /** Takes an event and returns what it adds to the text of the answer. */
  readonly add: (event: object) => string;
  /** Returns the body as it would be without streaming, or null before the event that marks the answer as complete. */
  readonly body: () => object | null;
  /** Returns whether nothing more can follow, though the connection may stay open. */
  readonly isOver: () => boolean;
}

/** Returns the finish reason after an event. Text without a reason clears it, since relays may send one too early. */
export function endAfter(known: string, named: string | null | undefined, text: string): string {
  if (named) return named;
  return text === '' ? known : '';
}

/**
 * Reads a model's answer: a whole body, as a string if it is not JSON, or a stream, as the body that its events form.
 * The SDKs do not read streams here: they end silently with the connection, and some take minutes for one long line.
 * @throws UnreadableReply, TransportError, or what `fetch` throws for a broken connection
 */
export async function readAnswer(
  response: Response,
  asked: Pick<ModelRequest, 'card' | 'onText'>,
  assembly: Assembly,
): Promise<unknown> {
  if (!isEventStream(response)) {
    const text = await response.text();
    return readJson(text) ?? text;
  }
  let failure: unknown = new TransportError(ENDED_EARLY);
  try {
    await takeEvents(response, asked, assembly);
  } catch (error) {
    failure = error;
  }
  const body = assembly.body();
  // After the last event, the answer is complete, however the connection ends.
  if (body === null) throw failure;
  return body;
}

async function takeEvents(
  response: Response,
  { card, onText }: Pick<ModelRequest, 'card' | 'onText'>,
  assembly: Assembly,
): Promise<void> {
  const { idleTimeoutMs = card.timeoutMs } = card;
  for await (const events of eventsOf(response, idleTimeoutMs)) {
    for (const data of events) {
      if (data === '[DONE]') return;
      const text = assembly.add(eventIn(data));
      if (text !== '') onText?.(text);
    }
    if (assembly.isOver()) return;
  }
}

/** Yields the data of a stream's events, in batches as they arrive. */
async function* eventsOf(response: Response, idleTimeoutMs: number): AsyncGenerator<readonly string[]> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return;
  const reader = body.getReader();
  const events = new EventReader();
  const state = { bytes: 0, isStalled: false };
  const stop = (): void => {
    state.isStalled = true;
    void reader.cancel().catch(() => undefined);
  };
  const clock = setTimeout(stop, Math.min(idleTimeoutMs, NO_TIMEOUT_MS));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      clock.refresh();
      if (state.isStalled) throw new TransportError(stalled(idleTimeoutMs, state.bytes));
      if (done) return;
      state.bytes += value.byteLength;
      if (state.bytes > MAX_RESPONSE_BYTES) throw tooLong();
      yield events.push(value);
    }
  } finally {
    clearTimeout(clock);
    leave(reader);
  }
}

/**
 * Parses a stream of server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) in time linear in
 * its length, wherever its chunks are cut. Only data is read: vendors repeat an event's name, if any, in it.
 */
export class EventReader {
  readonly #decoder = new TextDecoder();
  /** Pieces of a line whose end has not arrived. */
  #line: string[] = [];
  #data: string[] = [];
  #endedInReturn = false;

  /** Returns the data of each event that ends in this chunk, except keep-alive events, which have none. */
  push(chunk: Uint8Array): string[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (text === '') return [];
    // A line feed right after the last chunk's carriage return belongs to the same line end.
    const from = this.#endedInReturn && text.startsWith('\n') ? 1 : 0;
    this.#endedInReturn = text.endsWith('\r');
    const [first = '', ...others] = text.slice(from).split(/\r\n|\n|\r/);
    const last = others.pop();
    this.#line.push(first);
    if (last === undefined) return [];
    const lines = [this.#line.join(''), ...others];
    this.#line = [last];
    return lines.flatMap((line) => this.#take(line));
  }

  /** Takes a whole line; an empty one ends an event. */
  #take(line: string): string[] {
    if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || this.#data.length === 0) return [];
    const data = this.#data.join('\n');
    this.#data = [];
    return data === '' || data.startsWith(':') ? [] : [data];
  }
}

const LEAVE_MS = 1000;

/** Leaves a connection reusable if the server has nothing more to send, and closes it otherwise. */
function leave(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const close = (): void => void reader.cancel().catch(() => undefined);
  const clock = setTimeout(close, LEAVE_MS).unref();
  const left = reader.read().finally(() => {
    clearTimeout(clock);
    close();
  });
  left.catch(() => undefined);
}

/** @throws UnreadableReply if it is not a JSON object; TransportError if it reports a failure, in any vendor's format */
function eventIn(data: string): object {
  const event = readJson(data);
  if (typeof event !== 'object' || event === null) {
    throw new UnreadableReply(`an event that is no JSON but text that begins "${data.slice(0, 80)}"`);
  }
  const { type, error } = event as Readonly<Record<string, unknown>>;
  if (type === 'error' || Boolean(error)) throw failedMidway(reasonIn(data));
  return event;
}

/** Returns the error for a failure that a vendor reports in the middle of an answer, with its message. */
export function failedMidway(reason: string): Error {
  return new TransportError({
    type: FAILURES.interrupted,
    happened: 'failed while it wrote its answer',
    reason,
    // It may be about the question.
    health: 'unknown',
    remedy: 'Try again later; the call may have been billed.',
  });
}

const ENDED_EARLY: Diagnosis = {
  type: FAILURES.interrupted,
  happened: 'ended its answer without saying that it was whole',
  reason: '',
};

function stalled(idleTimeoutMs: number, bytes: number): Diagnosis {
  return {
    type: FAILURES.timeout,
    happened: `sent nothing for ${idleTimeoutMs / 1000} s after ${bytes} bytes of its answer`,
    reason: '',
    remedy: "Raise the worker's idleTimeout or choose a faster model; the call may have been billed.",
  };
}
