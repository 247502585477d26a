import type { LiveEvent, SolveHandle } from '../../client';
import { type EventFrame, frameOf } from '../event-stream';
import type { Gateway } from '../gateway';
import { asRefusal } from '../refusal';
import { AnswerTeller } from '../solve/told';
import { type Happening, Transcript } from '../solve/transcript';
import { type ResponseEvent, ResponseEncoder } from './response-events';
import { beginningOf, type KnownResponse, type ResponseBody, responseOf } from './response-object';

/** A response, and its solve. */
export interface FoundResponse extends KnownResponse {
  readonly solve: SolveHandle;
}

/** An event in a response's transcript, which keeps the cursors itself. */
type Recorded =
  | { readonly kind: 'live'; readonly event: LiveEvent }
  | { readonly kind: 'over'; readonly end: EndedEvent; readonly response: ResponseBody };
type EndedEvent = Extract<LiveEvent, { kind: 'ended' }>;

/** Yields all events of a response, with the same numbers for each reader. */
export async function* followResponse(
  { conductor, store }: Pick<Gateway, 'conductor' | 'store'>,
  found: FoundResponse,
  signal: AbortSignal,
): AsyncGenerator<ResponseEvent> {
  const encoder = new ResponseEncoder(beginningOf(found));
  const teller = new AnswerTeller();
  yield* encoder.begin();
  const transcript = new Transcript<Recorded>({
    store,
    id: found.id,
    open: (after, own) =>
      record(conductor.stream(found.id, { signal: own, ...(after !== undefined && { after }) }), found),
  });
  for await (const recorded of transcript.follow(signal)) {
    const event = recorded.kind === 'over' ? recorded.end : recorded.event;
    for (const told of teller.tell(event)) yield* encoder.tell(told);
    if (recorded.kind === 'over') yield* encoder.end(recorded.response);
  }
}

/** Returns the length of the text that an event adds to those before it. */
export function lengthOf(event: ResponseEvent): number {
  return 'delta' in event ? String(event.delta).length : 0;
}

/** Yields what happens in a solve, without texts that cannot be part of its answer. */
async function* record(
  events: AsyncIterable<LiveEvent>,
  found: FoundResponse,
): AsyncGenerator<Happening<Recorded>> {
  for await (const live of events) {
    const { cursor } = live;
    if (live.kind === 'ended') {
      const response = responseOf(found, await found.solve.result());
      yield { cursor, event: { kind: 'over', end: { ...live, cursor: '' }, response }, isLast: true };
      return;
    }
    if (live.kind === 'planning') continue;
    if ((live.kind === 'text' || live.kind === 'thoughts') && live.childId !== null) continue;
    if (live.kind === 'text' && live.provisional === true) continue;
    yield { cursor, event: { kind: 'live', event: { ...live, cursor: '' } }, isLast: false };
  }
}

/** Frames of the events after a number; a client that keeps the number of its last event can resume from it. */
export class ResponseFrames {
  private last: number;

  constructor(
    private readonly after: number,
    private readonly say: Gateway['say'],
  ) {
    this.last = after;
  }

  async *of(events: AsyncIterable<ResponseEvent>): AsyncGenerator<EventFrame> {
    for await (const event of events) {
      if (event.sequence_number <= this.after) continue;
      this.last = event.sequence_number;
      yield frameOf(event, event.type);
    }
  }

  failed(error: unknown): EventFrame {
    const { code, message } = asRefusal(error, this.say);
    const remedy = `resume with starting_after=${this.last}`;
    return this.aside('error', { code, message: `${message}; ${remedy}`, param: null });
  }

  /** Returns a frame of OpenAI's `keepalive` event, which has no content. */
  nothing(): EventFrame {
    return this.aside('keepalive', {});
  }

  /** Returns a frame outside the response's numbering, which repeats the last number. */
  private aside(type: string, fields: object): EventFrame {
    return frameOf({ type, sequence_number: Math.max(0, this.last), ...fields }, type);
  }
}
