import { Turns, within } from '../turns';

/** A thread or process that answers one request after the other. */
export interface Helper {
  post(request: unknown): void;
  /** Its words, the first of which says that it is ready; they end, or throw, when it does. */
  readonly answers: AsyncIterator<unknown>;
  kill(): void;
}

/** Thrown if the helper cannot answer: it took too long and was ended, or ended by itself. */
export class HelperError extends Error {
  override readonly name = 'HelperError';
}

/** It goes, with its memory, where nothing was asked for so long. */
const IDLE_MS = 60_000;

/**
 * Asks a helper that may never answer: whoever takes too long is ended, and the next request gets a new one. Requests
 * wait for one another, and their time counts from when they are sent.
 */
export class Killable {
  private readonly turns = new Turns(1);
  private helper: Helper | null = null;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly start: () => Helper,
    /** Until its first message, which says that it is ready, and for one answer. */
    private readonly limits: { readonly startMs: number; readonly answerMs: number },
  ) {}

  /** @throws HelperError */
  ask(request: unknown): Promise<unknown> {
    return this.turns.take(() => this.askNow(request));
  }

  stop(): void {
    clearTimeout(this.idle);
    this.helper?.kill();
    this.helper = null;
  }

  private async askNow(request: unknown): Promise<unknown> {
    clearTimeout(this.idle);
    try {
      if (this.helper === null) {
        this.helper = this.start();
        await nextAnswer(this.helper, this.limits.startMs);
      }
      this.helper.post(request);
      const answer = await nextAnswer(this.helper, this.limits.answerMs);
      this.idle = setTimeout(() => {
        this.stop();
      }, IDLE_MS).unref();
      return answer;
    } catch (error) {
      this.stop();
      throw error;
    }
  }
}

async function nextAnswer({ answers }: Helper, limitMs: number): Promise<unknown> {
  const next = await within(limitMs, answers.next());
  if (next === null) throw new HelperError(`there was no answer in ${limitMs / 1000} s`);
  if (next.done === true) throw new HelperError('it ended');
  return next.value;
}
