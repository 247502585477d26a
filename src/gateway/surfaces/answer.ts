import type { Context } from 'hono';
import { streamEvents } from '../event-stream';
import type { Env, Gateway } from '../gateway';
import { asRefusal, type Refusal } from '../refusal';
import type { Asked } from '../solve/asked';
import {
  type AnsweredResult,
  type AnswerPart,
  followAnswer,
  leave,
  waitForResult,
} from '../solve/follow-answer';
import { requestOf } from '../solve/request-of';
import { startSolve } from '../solve/start-solve';
import { headersOf, solveHeader } from '../solve/facts';

/** A vendor's response format. */
interface Form {
  readonly whole: (result: AnsweredResult) => object;
  /** Format of a streamed answer; null if the caller does not want a stream. */
  readonly pieces: ((solveId: string) => Pieces) | null;
}

/** A stream in a vendor's format; each string is a frame. */
export interface Pieces {
  frames(parts: AsyncIterable<AnswerPart>): AsyncGenerator<string>;
  /** Returns a keep-alive frame without content. */
  nothing(): string;
  error(refusal: Refusal): string;
}

/** Starts the solve of a conversation, or finds the one of an earlier attempt, and responds with its answer. */
export async function answer(c: Context<Env>, gateway: Gateway, asked: Asked, form: Form): Promise<Response> {
  const key = c.get('key');
  const started = await startSolve(c, gateway, requestOf(gateway.config, key, asked), asked);
  const answered = { gateway, key, started };
  if (form.pieces === null) {
    const result = await waitForResult(answered, asked, c.req.raw.signal);
    return c.json(form.whole(result), 200, headersOf(result));
  }
  const pieces = form.pieces(started.id);
  const framed = {
    open: (gone: AbortSignal) => pieces.frames(followAnswer(answered, gone)),
    nothing: () => pieces.nothing(),
    failed: (error: unknown) => pieces.error(asRefusal(error, gateway.say)),
    onGone: () => void leave(answered, asked),
  };
  return streamEvents(c, framed, solveHeader(started.id));
}
