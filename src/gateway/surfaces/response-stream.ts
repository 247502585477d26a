import type { LiveEvent, SolveHandle } from '../../client';
import { type AnswerPlace, type EndFacts, endWithCalls, endWithSolve } from '../solve/answer-end';
import { type AnswerReading, eventsOfAnswer, planKnown } from '../solve/answer-events';
import { type EventFrame, frameOf } from '../event-stream';
import { stopping } from '../closing';
import type { Gateway } from '../gateway';
import type { Refusal } from '../refusal';
import { AnswerTeller } from '../solve/told';
import { type Happening, Transcript } from '../solve/transcript';
import { type ResponseEvent, ResponseEncoder } from './response-events';
import { beginningOf, type KnownResponse, type ResponseBody, responseOf } from './response-object';

/** A response, and its solve, which may have several. */
export interface FoundResponse extends KnownResponse {
  readonly solve: SolveHandle;
  readonly place: AnswerPlace;
  /** Position in the solve's events after which its own begin; absent: it is the first. */
  readonly after?: string | undefined;
}

/** An event in a response's transcript, which keeps the cursors itself. */
type Recorded =
  | { readonly kind: 'live'; readonly event: LiveEvent }
  | { readonly kind: 'over'; readonly end: EndedEvent | null; readonly response: ResponseBody };
/** The end of its solve; null: it ends with calls. */
type EndedEvent = Extract<LiveEvent, { kind: 'ended' }>;

type Sources = Pick<Gateway, 'conductor' | 'store'>;

/** Yields all events of a response, with the same numbers for each reader. */
export async function* followResponse(
  sources: Sources,
  found: FoundResponse,
  signal: AbortSignal,
): AsyncGenerator<ResponseEvent> {
  const encoder = new ResponseEncoder(beginningOf(found));
  yield* encoder.begin();
  const known = found.after === undefined ? null : await sources.conductor.trace(found.place.id);
  const teller = new AnswerTeller({ isWhole: found.notes.isWhole === true, ...planKnown(known) });
  const transcript = new Transcript<Recorded>({
    store: sources.store,
    id: found.id,
    open: (after, own) => record(sources, found, { known, after, signal: own }),
  });
  for await (const recorded of transcript.follow(signal)) {
    const event = recorded.kind === 'over' ? recorded.end : recorded.event;
    if (event !== null) for (const told of teller.tell(event)) yield* encoder.tell(told);
    if (recorded.kind === 'over') yield* encoder.end(recorded.response);
  }
}

/** Waits for the end of a response, and returns it without what was told of the way there. */
export async function endOfResponse(
  gateway: Pick<Gateway, 'conductor' | 'store' | 'closing'>,
  found: FoundResponse,
): Promise<ResponseBody> {
  let end: ResponseBody | null = null;
  for await (const event of followResponse(gateway, found, gateway.closing.over))
    if ('response' in event) end = event.response as ResponseBody;
  if (end === null || gateway.closing.over.aborted) throw stopping(found.place.id);
  return { ...end, output: end.output.filter(({ type }) => type !== 'reasoning') };
}

/** Returns the length of the text that an event adds to those before it. */
export function lengthOf(event: ResponseEvent): number {
  return 'delta' in event ? String(event.delta).length : 0;
}

/** Yields what happens in a solve until it ends or waits for its caller, without texts that cannot be part of an answer. */
async function* record(
  sources: Sources,
  found: FoundResponse,
  { known, after: recorded, signal }: Omit<AnswerReading, 'id'>,
): AsyncGenerator<Happening<Recorded>> {
  const { place, notes } = found;
  const over = (end: EndedEvent | null, facts: EndFacts): Happening<Recorded> => {
    const event = { kind: 'over', end, response: responseOf(found, facts) } as const;
    return { cursor: '', event, isLast: true };
  };
  const after = recorded ?? found.after;
  for await (const live of eventsOfAnswer(sources, { id: place.id, known, after, signal })) {
    if (live.kind === 'ended')
      yield over({ ...live, cursor: '' }, await endWithSolve(sources, place, await found.solve.result()));
    else if (live.kind === 'callsWaiting')
      yield over(null, await endWithCalls(sources, place, live.calls, notes.asks === 'one'));
    else if (isTold(live))
      yield { cursor: live.cursor, event: { kind: 'live', event: { ...live, cursor: '' } }, isLast: false };
  }
}

function isTold(live: LiveEvent): boolean {
  if (live.kind === 'text' && live.provisional === true) return false;
  const isText = live.kind === 'text' || live.kind === 'thoughts';
  return live.kind !== 'planning' && !(isText && live.childId !== null);
}

/** Frames of the events after a number; a client that keeps the number of its last event can resume from it. */
export class ResponseFrames {
  private last: number;

  constructor(private readonly after: number) {
    this.last = after;
  }

  async *of(events: AsyncIterable<ResponseEvent>): AsyncGenerator<EventFrame> {
    for await (const event of events) {
      if (event.sequence_number <= this.after) continue;
      this.last = event.sequence_number;
      yield frameOf(event, event.type);
    }
  }

  failed({ code, message }: Refusal): EventFrame {
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
