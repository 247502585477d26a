import type { Context } from 'hono';
import type { SolveResult } from '../../protocol/solve';
import { asRefusal } from '../as-refusal';
import { streamEvents } from '../event-stream';
import type { Env, Gateway } from '../gateway';
import type { Refusal } from '../refusal';
import type { Asked } from '../solve/asked';
import { type AnswerPart, followAnswer, leave, waitForResult } from '../solve/follow-answer';
import { sentBy, startSolve } from '../solve/start-solve';
import { headersOf, solveHeader } from '../solve/usage';

/** A vendor's form of an answer. */
interface Form {
  /** @throws Refusal for a solve without an answer */
  readonly whole: (result: SolveResult) => object;
  /** The form of an answer that is streamed; null where the caller wants it whole. */
  readonly pieces: ((solveId: string) => Pieces) | null;
}

/** A stream in a vendor's form, each string a frame. */
export interface Pieces {
  frames(parts: AsyncIterable<AnswerPart>): AsyncGenerator<string>;
  /** Says that the stream lives, wherever there is nothing of the answer to say. */
  nothing(): string;
  error(refusal: Refusal): string;
}

/** Starts the solve that a conversation asks for, or finds it where it was asked for before, and tells its answer. */
export async function answer(c: Context<Env>, gateway: Gateway, asked: Asked, form: Form): Promise<Response> {
  const key = c.get('key');
  const started = await startSolve(gateway, key, asked, await sentBy(c));
  const answered = { gateway, key, started };
  if (form.pieces === null) {
    const result = await waitForResult(answered, asked, c.req.raw.signal);
    return c.json(form.whole(result), 200, headersOf(result));
  }
  const pieces = form.pieces(started.id);
  const gone = new AbortController();
  const framed = {
    frames: pieces.frames(followAnswer(answered, gone.signal)),
    nothing: () => pieces.nothing(),
    failed: (error: unknown) => pieces.error(asRefusal(error, gateway.say)),
    onGone: (): void => {
      gone.abort();
      void leave(answered, asked);
    },
  };
  return streamEvents(c, framed, solveHeader(started.id));
}
