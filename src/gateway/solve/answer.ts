import type { Context } from 'hono';
import type { LiveEvent } from '../../client';
import type { SolveResult } from '../../protocol/solve';
import type { Source } from '../access/streams';
import { stopping } from '../closing';
import { type EventFrame, streamEvents } from '../event-stream';
import type { Env, Gateway } from '../gateway';
import { asRefusal, givenUp, type Refusal, refusalOfRun } from '../refusal';
import type { SurfaceQuestion } from './request-fields';
import { headersOf, solveHeader } from './facts';
import { requestOf } from './request-of';
import { type Started, startSolve } from './start-solve';
import { AnswerTeller, type AnswerEvent } from './told';

/** A vendor's response format. */
interface EncodedForm {
  readonly whole: (result: AnsweredResult) => object;
  /** Format of a streamed answer; null if the caller does not want a stream. */
  readonly pieces: ((solveId: string) => Pieces) | null;
}

/** A stream in a vendor's format. */
export interface Pieces {
  frames(parts: AsyncIterable<AnswerPart>): AsyncGenerator<EventFrame>;
  /** Returns a keep-alive frame without content. */
  nothing(): EventFrame;
  error(refusal: Refusal): EventFrame;
}

/** Starts the solve of a conversation, or finds the one of an earlier attempt, and responds with its answer. */
export async function answer(
  c: Context<Env>,
  gateway: Gateway,
  asked: SurfaceQuestion,
  form: EncodedForm,
): Promise<Response> {
  // Before the start: a refused request must cost nothing.
  const tellSource = form.pieces === null ? null : gateway.streams.open(c.get('key'), c.env.outgoing);
  const started = await startSolve(c, gateway, requestOf(gateway.config, c.get('key'), asked), asked);
  const answered = { gateway, started };
  c.set('solve', started.id);
  if (form.pieces === null) {
    const result = await waitForResult(answered, asked, c.req.raw.signal);
    return c.json(form.whole(result), 200, headersOf(result));
  }
  tellSource?.(sourceOf(gateway, started.id));
  const pieces = form.pieces(started.id);
  const framed = {
    open: (gone: AbortSignal) => pieces.frames(followAnswer(answered, gone)),
    nothing: () => pieces.nothing(),
    failed: (error: unknown) => pieces.error(asRefusal(error, gateway.say)),
    stop: { signal: gateway.closing.over, frame: () => pieces.error(stopping(started.id)) },
    onGone: () => void leave(answered, asked),
  };
  return streamEvents(c, framed, solveHeader(started.id));
}

/** Returns what a stream of a solve's events reads. */
export function sourceOf({ conductor }: Pick<Gateway, 'conductor'>, id: string): Source {
  return { name: id, length: () => conductor.streamedLength(id) };
}

interface Answered {
  readonly gateway: Pick<Gateway, 'conductor' | 'closing'>;
  readonly started: Pick<Started, 'id' | 'result' | 'isNew'>;
}

/** Handles a client's disconnect: cancels the solve only if the request said so. */
export async function leave(
  { gateway, started }: Answered,
  { extension }: Pick<SurfaceQuestion, 'extension'>,
): Promise<void> {
  // A stopping gateway cuts off its last clients, which have not left.
  if (extension.on_disconnect !== 'cancel' || gateway.closing.over.aborted) return;
  // The solve may have ended meanwhile.
  await gateway.conductor.cancel(started.id).catch(() => undefined);
}

/** Result of a solve that ended with an answer. */
export interface AnsweredResult extends SolveResult {
  readonly answer: string;
}

/** Waits for the end of a solve. @throws Refusal if it ends without an answer */
export async function waitForResult(
  answered: Answered,
  asked: Pick<SurfaceQuestion, 'extension'>,
  gone: AbortSignal,
): Promise<AnsweredResult> {
  const onGone = (): void => void leave(answered, asked);
  // The client may have left while the solve was starting.
  if (gone.aborted) onGone();
  gone.addEventListener('abort', onGone);
  try {
    return answeredOf(await answered.started.result());
  } finally {
    gone.removeEventListener('abort', onGone);
  }
}

export type AnswerPart =
  | Exclude<AnswerEvent, { kind: 'dropped' }>
  /** Always the last part. */
  | { readonly kind: 'result'; readonly result: AnsweredResult };

/** Yields what happens in a solve until its end, then its result. @throws Refusal without an answer, or if it restarts */
async function* followAnswer(answered: Answered, signal: AbortSignal): AsyncGenerator<AnswerPart> {
  const { started } = answered;
  const teller = new AnswerTeller();
  for await (const event of eventsOf(answered, signal)) {
    for (const told of teller.tell(event)) {
      if (told.kind === 'dropped') throw givenUp(started.id);
      yield told;
    }
  }
  if (signal.aborted) return;
  yield { kind: 'result', result: answeredOf(await started.result()) };
}

function answeredOf(result: SolveResult): AnsweredResult {
  const { answer } = result;
  if (answer === null) throw refusalOfRun(result);
  return { ...result, answer };
}

/** Yields only the end if a repeated request comes after it: the log may hold texts of attempts that were lost. */
async function* eventsOf({ gateway, started }: Answered, signal: AbortSignal): AsyncGenerator<LiveEvent> {
  const { conductor } = gateway;
  const isOver = !started.isNew && (await conductor.trace(started.id)).status !== 'running';
  for await (const event of conductor.stream(started.id, { signal })) {
    if (!isOver || event.kind === 'ended') yield event;
  }
}
