import { Turns, within } from '../turns';

/** A thread or process that answers one request at a time. */
export interface Helper {
  post(request: unknown): void;
  /** Messages; the first one says that the helper is ready. The iterator ends, or throws, when the helper ends. */
  readonly answers: AsyncIterator<unknown>;
  kill(): void;
}

/** Thrown if the helper cannot answer: it took too long and was ended, or ended by itself. */
export class HelperError extends Error {
  override readonly name = 'HelperError';
}

/** Idle time after which a helper is stopped to free its memory. */
const IDLE_MS = 60_000;

/**
 * Asks a helper that may never answer: one that takes too long is killed, and the next request starts a new one.
 * Requests run one at a time, and the timeout of each starts when it is sent.
 */
export class Killable {
  private readonly turns = new Turns(1);
  private helper: Helper | null = null;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly start: () => Helper,
    /** Timeouts for the first message, which says that the helper is ready, and for one answer. */
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
