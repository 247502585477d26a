import { FAILURES } from '../../protocol/failures';
import type { Diagnosis } from './diagnose';
import { failureIn } from './failures/cause';
import { holdsOutput, parseJson, reportIn } from './failures/said';
import type { ModelRequest } from './model';
import { refuseReported, ReportedFailure, UnreadableReply } from './reply';
import { isEventStream, MAX_RESPONSE_BYTES, NO_TIMEOUT_MS, tooLong, TransportError } from './transport';

/** Assembles the events of one vendor's stream. */
export interface Assembly {
  /** Takes an event and returns what it adds to the text of the answer. */
  readonly add: (event: object) => string;
  /**
   * Returns the body as it would be without streaming, or null before the answer is complete.
   * @param isDone whether the stream ended with OpenAI's `[DONE]`
   */
  readonly body: (isDone: boolean) => object | null;
  /** Returns whether nothing more can follow, though the connection may stay open. */
  readonly isOver: () => boolean;
}

/**
 * Reads a model's answer: a whole body, as a string if it is neither JSON nor events, or a stream, as the body that its
 * events form. A stream is known by its events, too, whatever its content type. Every answer passes here, so a failure
 * that a server reports under 200 is found here, in whatever shape it comes.
 * The SDKs do not read streams here: they end silently with the connection, and some take minutes for one long line.
 * @throws UnreadableReply, ReportedFailure, TransportError, or what `fetch` throws for a broken connection
 */
export async function readModelResponse(
  response: Response,
  asked: Pick<ModelRequest, 'card' | 'onText'>,
  assembly: Assembly,
): Promise<unknown> {
  const body = isEventStream(response)
    ? await assembled(eventsOf(response, asked.card.idleTimeoutMs ?? asked.card.timeoutMs), asked, assembly)
    : await readWhole(await response.text(), asked, assembly);
  refuseReported(body);
  return body;
}

async function readWhole(
  text: string,
  asked: Pick<ModelRequest, 'onText'>,
  assembly: Assembly,
): Promise<unknown> {
  const body = parseJson(text);
  if (body !== null) return body;
  const reader = new EventReader();
  const events = [...reader.push(Buffer.from(text)), ...reader.end()];
  return events.some(isWhole) ? assembled([events], asked, assembly) : text;
}

type Batches = AsyncIterable<readonly string[]> | readonly (readonly string[])[];

async function assembled(
  batches: Batches,
  { onText }: Pick<ModelRequest, 'onText'>,
  assembly: Assembly,
): Promise<object> {
  let failure: unknown = new TransportError(ENDED_EARLY);
  let isDone = false;
  try {
    isDone = await takeEvents(batches, onText, assembly);
  } catch (error) {
    failure = error;
  }
  const body = assembly.body(isDone);
  // After the last event, the answer is complete, however the connection ends.
  if (body === null) throw failure;
  return body;
}

/** Returns whether the stream ended with `[DONE]`. */
async function takeEvents(
  batches: Batches,
  onText: ModelRequest['onText'],
  assembly: Assembly,
): Promise<boolean> {
  let hasBegun = false;
  for await (const events of batches) {
    for (const data of events) {
      if (data === '[DONE]') return true;
      const event = eventIn(data, hasBegun);
      hasBegun ||= holdsOutput(event);
      const text = assembly.add(event);
      if (text !== '') onText?.(text);
    }
    if (assembly.isOver()) break;
  }
  return false;
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
      if (done) {
        yield events.end();
        return;
      }
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
 * its length, wherever its chunks are cut. Of the fields only data is read, since vendors repeat an event's name, if
 * any, in it. Three habits of servers that fail are read, too: an event that is named `error`, a field of that name
 * (llama.cpp), and JSON without a field.
 */
export class EventReader {
  private readonly decoder = new TextDecoder();
  /** Pieces of a line whose end has not arrived. */
  private line: string[] = [];
  private data: string[] = [];
  /** Lines of JSON that stand outside of any field. */
  private bare: string[] = [];
  private isError = false;
  /** Beginning of what stands in no field. */
  private stray = '';
  private hasEvents = false;
  private endedInReturn = false;

  /** Returns the data of each event that ends in this chunk, except keep-alive events, which have none. */
  push(chunk: Uint8Array): string[] {
    const text = this.decoder.decode(chunk, { stream: true });
    if (text === '') return [];
    // A line feed right after the last chunk's carriage return belongs to the same line end.
    const from = this.endedInReturn && text.startsWith('\n') ? 1 : 0;
    this.endedInReturn = text.endsWith('\r');
    const [first = '', ...others] = text.slice(from).split(/\r\n|\n|\r/);
    const last = others.pop();
    this.line.push(first);
    if (last === undefined) return [];
    const lines = [this.line.join(''), ...others];
    this.line = [last];
    return lines.flatMap((line) => this.take(line));
  }

  /**
   * Returns the events that lack only the empty line at their end; a cut one is lost. If nothing was an event, returns
   * the text that came instead.
   */
  end(): string[] {
    const line = this.line.join('');
    this.line = [];
    const events = [...(line === '' ? [] : this.take(line)), ...this.take('')];
    return this.hasEvents || this.stray.trim() === '' ? events.filter(isWhole) : [this.stray];
  }

  /** Takes a whole line; an empty one ends an event. */
  private take(line: string): string[] {
    const events = this.eventsAt(line);
    this.hasEvents ||= events.length > 0;
    return events;
  }

  private eventsAt(line: string): string[] {
    if (line === '') return [...this.endBare(), ...this.endEvent()];
    if (line.startsWith('data:')) this.data.push(valueIn(line, 5));
    else if (line.startsWith('event:')) this.isError = valueIn(line, 6).trim() === 'error';
    else if (line.startsWith('error:')) {
      this.isError = true;
      this.data.push(valueIn(line, 6));
    } else if (!OTHER_FIELD.test(line)) {
      this.stray = `${this.stray}${line}\n`.slice(0, MOST_STRAY);
      if (this.bare.length > 0) this.bare.push(line);
      else if (/^(?:\{|\[\{)/.test(line)) {
        // JSON lines are events; other JSON ends at an empty line.
        if (isObject(parseJson(line))) return [line];
        this.bare.push(line);
      }
    }
    return [];
  }

  private endEvent(): string[] {
    const [data, isError] = [this.data.join('\n'), this.isError];
    [this.data, this.isError] = [[], false];
    if (data === '' || data.startsWith(':')) return [];
    return [isError ? asReport(data) : data];
  }

  private endBare(): string[] {
    if (this.bare.length === 0) return [];
    const text = this.bare.join('\n');
    this.bare = [];
    return isObject(parseJson(text)) ? [text] : [];
  }
}

/** Lines that say nothing here: comments, ids, pauses, fields without a value. */
const OTHER_FIELD = /^(?::|(?:id|retry):|(?:data|event|id|retry)$)/;
/** Characters kept of a text that is no event. */
const MOST_STRAY = 1000;

/** Whether an event arrived whole: JSON, or the word that ends a stream. */
function isWhole(data: string): boolean {
  return data === '[DONE]' || isObject(parseJson(data));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function valueIn(line: string, from: number): string {
  return line.slice(line[from] === ' ' ? from + 1 : from);
}

/** Returns the data of an event that is named an error as a report of one. */
function asReport(data: string): string {
  const said = parseJson(data);
  return reportIn(said) ? data : JSON.stringify({ error: said ?? data });
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

/** @throws UnreadableReply if it is not a JSON object; ReportedFailure if it reports a failure, in any vendor's format */
function eventIn(data: string, hasBegun: boolean): object {
  const event = parseJson(data);
  const said = failureIn(event ?? data);
  if (said) throw new ReportedFailure(said, true, hasBegun || holdsOutput(event));
  if (typeof event !== 'object' || event === null) {
    throw new UnreadableReply(`an event that is no JSON but text that begins "${data.slice(0, 80)}"`);
  }
  return event;
}

/** Returns the error for an answer whose reason to end is a failure. */
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
