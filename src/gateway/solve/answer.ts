import type { Context } from 'hono';
import type { CallerCall, SolveRequest, StartOptions } from '../../client';
import type { Config } from '../../config/schema';
import type { Source } from '../access/streams';
import { stopping } from '../closing';
import { type EventFrame, streamEvents } from '../event-stream';
import type { Env, Gateway } from '../gateway';
import { logOf } from '../log-of';
import { givenUp, type Refusal, refusalOfRun } from '../refusal';
import { type AnswerPlace, type EndFacts, endWithCalls, endWithSolve } from './answer-end';
import { eventsOfAnswer, planKnown } from './answer-events';
import { headersOf, noteOf, solveHeader, type SolveNote } from './facts';
import type { Extension } from './request-fields';
import { requestOf, withSideWorker } from './request-of';
import { type Resumed, resumeSolve } from './resume';
import { isSideRequest } from './side-request';
import { bookLater, callerOf, type Started, startSolve, whileAwaited } from './start-solve';
import type { SurfaceQuestion } from './surface-question';
import { AnswerTeller, type AnswerEvent } from './told';

/** A vendor's response format. */
interface EncodedForm {
  readonly whole: (end: AnswerEnd) => object;
  /** Format of a streamed answer; null if the caller does not want a stream. */
  readonly pieces: ((answerId: string) => Pieces) | null;
}

/** A stream in a vendor's format. */
export interface Pieces {
  frames(parts: AsyncIterable<AnswerPart>): AsyncGenerator<EventFrame>;
  /** Returns a keep-alive frame without content. */
  nothing(): EventFrame;
  error(refusal: Refusal): EventFrame;
}

/** Answers a conversation: starts its solve, finds the one of an earlier attempt, or hands results to the one that waits. */
export async function answer(
  c: Context<Env>,
  gateway: Gateway,
  asked: SurfaceQuestion,
  form: EncodedForm,
): Promise<Response> {
  // Before the start: a refused request must cost nothing.
  const tellSource = form.pieces === null ? null : gateway.streams.open(c.get('key'), c.env.outgoing);
  const answered = await beginAnswer(c, gateway, asked);
  const { id, solve } = answered;
  if (form.pieces === null) {
    const end = await unlessLeft(answered, c.req.raw.signal, () => wholeOf(answered));
    return c.json(form.whole(end), 200, headersOf(solve.id, end.spent));
  }
  tellSource?.(sourceOf(gateway, solve.id));
  const pieces = form.pieces(id);
  const framed = {
    open: (gone: AbortSignal) => pieces.frames(piecemeal(answered, gone)),
    nothing: () => pieces.nothing(),
    failed: (refusal: Refusal) => pieces.error(refusal),
    stop: { signal: gateway.closing.over, refusal: stopping(solve.id) },
    say: logOf(c, gateway),
    onGone: () => void leave(answered),
  };
  return streamEvents(c, framed, solveHeader(solve.id));
}

/** Returns what a stream of a solve's events reads. */
export function sourceOf({ conductor }: Pick<Gateway, 'conductor'>, id: string): Source {
  return { name: id, length: () => conductor.streamedLength(id) };
}

/** One answer of a solve, which may have several: each but the last ends with calls of the caller's functions. */
interface Answered {
  readonly gateway: Gateway;
  readonly asked: SurfaceQuestion;
  readonly solve: Started & Partial<Pick<Resumed, 'after' | 'call' | 'warnings'>>;
  readonly id: string;
}

interface BeginOptions {
  /** Notes to keep with a solve that is started. */
  readonly memo?: StartOptions['memo'];
  /** @default true */
  readonly isAwaited?: boolean;
}

export async function beginAnswer(
  c: Context<Env>,
  gateway: Gateway,
  asked: SurfaceQuestion,
  { memo, isAwaited = true }: BeginOptions = {},
): Promise<Answered> {
  const key = c.get('key');
  const { handed } = asked;
  const endsWithClient = asked.extension.on_disconnect === 'cancel';
  const begin = (traceparent: string | undefined): Promise<Answered['solve']> =>
    handed === undefined
      ? startSolve(
          c,
          gateway,
          { ...requestFor(c, gateway, asked), traceparent },
          { model: asked.model, memo, endsWithClient },
        )
      : resumeSolve(c, gateway, handed, asked.functions);
  const solve = await (isAwaited ? whileAwaited(c, gateway, begin) : begin(callerOf(c)));
  c.set('solve', solve.id);
  if (solve.isNew && mayAskBack(asked)) bookLater(key, solve);
  return { gateway, asked, solve, id: answerIdOf(solve) };
}

function requestFor(c: Context<Env>, { config }: Gateway, asked: SurfaceQuestion): SolveRequest {
  const request = requestOf(config, c.get('key'), asked);
  return isSideRequest(asked, c.req.header('user-agent')) ? withSideWorker(config, request) : request;
}

/** Returns the id of an answer: a client takes two answers of one id for one. */
function answerIdOf({ id, call }: AnswerPlace): string {
  return call === undefined ? id : `${id}_${call}`;
}

/** A client that waits for a solve. */
interface Waiting {
  readonly gateway: Pick<Gateway, 'conductor' | 'closing'>;
  readonly asked: { readonly extension: Pick<Extension, 'on_disconnect'> };
  readonly solve: Pick<Started, 'id'>;
}

/** Handles a client's disconnect: cancels the solve only if the request said so. */
export async function leave({ gateway, asked: { extension }, solve }: Waiting): Promise<void> {
  // A stopping gateway cuts off its last clients, which have not left.
  if (extension.on_disconnect !== 'cancel' || gateway.closing.over.aborted) return;
  // The solve may have ended meanwhile.
  await gateway.conductor.cancel(solve.id).catch(() => undefined);
}

/** Waits for what a client waits for. @param gone aborted if the client leaves */
export async function unlessLeft<End>(
  waiting: Waiting,
  gone: AbortSignal,
  end: () => Promise<End>,
): Promise<End> {
  const onGone = (): void => void leave(waiting);
  // The client may have left while the solve was starting.
  if (gone.aborted) onGone();
  gone.addEventListener('abort', onGone);
  try {
    return await end();
  } finally {
    gone.removeEventListener('abort', onGone);
  }
}

/** Whether a solve may ask its caller for something, so that its answer may end before the solve does. */
export function mayAskBack({ functions, handed }: Pick<SurfaceQuestion, 'functions' | 'handed'>): boolean {
  return functions.tools.length > 0 || handed !== undefined;
}

/** Whether text may stand before an answer that must be JSON alone. */
export function isToldWhole(
  asked: Pick<SurfaceQuestion, 'answerSchema' | 'functions' | 'handed'>,
  config: Config,
): boolean {
  return asked.answerSchema !== undefined && (mayAskBack(asked) || Object.keys(config.tools).length > 0);
}

/** How an answer ends: with all that its solve found, or with calls whose results the solve waits for. */
export interface AnswerEnd extends EndFacts {
  readonly id: string;
  /** The solve's answer, or what was said before the calls. */
  readonly text: string;
  readonly note: SolveNote;
}

/** Waits for the end of an answer. @throws Refusal if the solve ends without one */
function wholeOf(answered: Answered): Promise<AnswerEnd> {
  const { asked, gateway, solve } = answered;
  // Waiting for a result takes one long poll, following a solve one for each of its events.
  return mayAskBack(asked) ? collect(follow(answered, gateway.closing.over), solve.id) : lastEnd(answered);
}

async function collect(parts: AsyncIterable<Followed>, solveId: string): Promise<AnswerEnd> {
  let text = '';
  for await (const part of parts) {
    if (part.kind === 'delta') text += part.text;
    else if (part.kind === 'dropped') text = '';
    else if (part.kind === 'commented') text += '\n\n';
    else if (part.kind === 'end') return part.end.calls.length === 0 ? part.end : { ...part.end, text };
  }
  throw stopping(solveId);
}

type Followed = AnswerEvent | { readonly kind: 'end'; readonly end: AnswerEnd };

/** The last part is always the end. */
export type AnswerPart = Exclude<Followed, { readonly kind: 'dropped' }>;

/** Yields an answer as it comes. @throws Refusal if text that was told is void, or if the solve ends without an answer */
async function* piecemeal(answered: Answered, signal: AbortSignal): AsyncGenerator<AnswerPart> {
  for await (const part of follow(answered, signal)) {
    if (part.kind === 'dropped') throw givenUp(answered.solve.id);
    yield part;
  }
}

/** Yields what happens in a solve until it ends or waits for its caller. */
async function* follow(answered: Answered, signal: AbortSignal): AsyncGenerator<Followed> {
  const { solve, asked, gateway } = answered;
  const known = solve.isNew ? null : await gateway.conductor.trace(solve.id);
  // The log may hold texts of attempts that were lost: of a solve that is over, the end alone is told.
  const isOver = known !== null && known.status !== 'running';
  const teller = new AnswerTeller({ isWhole: isToldWhole(asked, gateway.config), ...planKnown(known) });
  const { id, call, after } = solve;
  for await (const event of eventsOfAnswer(gateway, {
    known: call === undefined ? null : known,
    id,
    after,
    signal,
  })) {
    if (event.kind === 'callsWaiting') yield { kind: 'end', end: await endWith(answered, event.calls) };
    else if (!isOver || event.kind === 'ended') yield* teller.tell(event);
    if (event.kind === 'ended') yield { kind: 'end', end: await lastEnd(answered) };
  }
}

async function endWith(answered: Answered, waiting: readonly CallerCall[]): Promise<AnswerEnd> {
  const { gateway, solve, asked } = answered;
  return ending(answered, await endWithCalls(gateway, solve, waiting, asked.functions.isSerial), '');
}

async function lastEnd(answered: Answered): Promise<AnswerEnd> {
  const { gateway, solve } = answered;
  const result = await solve.result();
  if (result.answer === null) throw refusalOfRun(result);
  return ending(answered, await endWithSolve(gateway, solve, result), result.answer);
}

function ending({ asked, solve, id }: Answered, facts: EndFacts, text: string): AnswerEnd {
  const warnings = [...asked.warnings, ...(solve.warnings ?? [])];
  return { ...facts, id, text, note: noteOf(facts.result, { extension: asked.extension, warnings }) };
}
