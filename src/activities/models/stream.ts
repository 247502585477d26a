import { FAILURES } from '../../protocol/failures';
import { type Diagnosis, DiagnosedError, readJson, reasonIn } from './diagnose';
import { EventReader } from './event-reader';
import type { ModelRequest } from './model';
import { UnreadableReply } from './reply';
import { isEventStream, MAX_RESPONSE_BYTES, NO_TIMEOUT_MS, tooLong } from './transport';

/** Puts the events of one vendor's stream together. */
export interface Assembly {
  /** Takes an event and returns what it adds to the text of the answer. */
  readonly add: (event: object) => string;
  /** The body as it would have come whole; null before the event that says that the answer is. */
  readonly body: () => object | null;
  /** Whether nothing more can follow, though the connection may stay open. */
  readonly isOver: () => boolean;
}

/** How an answer ends, by what was known and what an event names beside its text: relays name ends that text follows. */
export function endAfter(known: string, named: string | null | undefined, text: string): string {
  if (named) return named;
  return text === '' ? known : '';
}

/** A stream that ended before its answer was whole. What was written may have been billed. */
class BrokenStream extends DiagnosedError {
  override readonly name = 'BrokenStream';
  override readonly code = 'BrokenStream';

  constructor(readonly diagnosis: Diagnosis) {
    super(diagnosis.happened);
  }
}

/**
 * Reads what a model answers: a body that comes whole, as a string where it is no JSON, or the events of a stream, as the
 * body that they come to. The SDKs are not given streams to read: they end quietly wherever the connection does, and some
 * take minutes for one long line.
 * @throws UnreadableReply, BrokenStream, or what `fetch` throws for a connection that breaks
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
  let failure: unknown = new BrokenStream(ENDED_EARLY);
  try {
    await takeEvents(response, asked, assembly);
  } catch (error) {
    failure = error;
  }
  const body = assembly.body();
  // Once the last event came, the answer is whole, however the connection ends.
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

/** The data of a stream's events, as many at a time as arrive together. */
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
      if (state.isStalled) throw new BrokenStream(stalled(idleTimeoutMs, state.bytes));
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

const LEAVE_MS = 1000;

/** Lets a connection be used again where the server has nothing more to send, and closes it where it has. */
function leave(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  const close = (): void => void reader.cancel().catch(() => undefined);
  const clock = setTimeout(close, LEAVE_MS).unref();
  const left = reader.read().finally(() => {
    clearTimeout(clock);
    close();
  });
  left.catch(() => undefined);
}

/** @throws UnreadableReply where it is no JSON; BrokenStream where it tells of a failure, in any of the vendors' ways */
function eventIn(data: string): object {
  const event = readJson(data);
  if (typeof event !== 'object' || event === null) {
    throw new UnreadableReply(`an event that is no JSON but text that begins "${data.slice(0, 80)}"`);
  }
  const { type, error } = event as Readonly<Record<string, unknown>>;
  if (type === 'error' || Boolean(error)) throw failedMidway(reasonIn(data));
  return event;
}

/** A failure that a vendor states where its answer should go on; in its words. */
export function failedMidway(reason: string): Error {
  return new BrokenStream({
    type: FAILURES.interrupted,
    happened: 'failed while it wrote its answer',
    reason,
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
