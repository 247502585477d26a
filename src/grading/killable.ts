/** A thread or process that answers one request after the other. */
export interface Helper {
  post(request: unknown): void;
  /** Its own words come to `onMessage`; `onEnd` is told once why it can answer nothing more. */
  listen(onMessage: (message: unknown) => void, onEnd: (reason: string) => void): void;
  kill(): void;
}

export interface TimeLimits {
  /** Until its first message, which says that it is ready. */
  readonly startMs: number;
  /** For one answer. */
  readonly answerMs: number;
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
  private queue: Promise<unknown> = Promise.resolve();
  private running: { readonly helper: Helper; readonly inbox: Inbox } | null = null;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly start: () => Helper,
    private readonly limits: TimeLimits,
  ) {}

  /** @throws HelperError */
  ask(request: unknown): Promise<unknown> {
    const answer = this.queue.then(() => this.askNow(request));
    this.queue = answer.catch(() => undefined);
    return answer;
  }

  stop(): void {
    clearTimeout(this.idle);
    this.running?.helper.kill();
    this.running = null;
  }

  private async askNow(request: unknown): Promise<unknown> {
    clearTimeout(this.idle);
    try {
      if (this.running?.inbox.isOver === true) this.running = null;
      const { helper, inbox } = (this.running ??= await this.begin());
      helper.post(request);
      const answer = await inbox.next(this.limits.answerMs);
      this.idle = setTimeout(() => {
        this.stop();
      }, IDLE_MS).unref();
      return answer;
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  private async begin(): Promise<{ helper: Helper; inbox: Inbox }> {
    const helper = this.start();
    const inbox = new Inbox();
    helper.listen(inbox.take, inbox.end);
    await inbox.next(this.limits.startMs).catch((error: unknown) => {
      helper.kill();
      throw error;
    });
    return { helper, inbox };
  }
}

/** Hands the next message to the one who waits for it. */
class Inbox {
  private waiting: { resolve(message: unknown): void; reject(error: Error): void } | null = null;
  private ended: string | null = null;

  get isOver(): boolean {
    return this.ended !== null;
  }

  readonly take = (message: unknown): void => {
    this.waiting?.resolve(message);
  };

  readonly end = (reason: string): void => {
    this.ended ??= reason;
    this.waiting?.reject(new HelperError(reason));
  };

  async next(limitMs: number): Promise<unknown> {
    if (this.ended !== null) throw new HelperError(this.ended);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.waiting = { resolve, reject };
        timer = setTimeout(() => {
          reject(new HelperError(`there was no answer in ${limitMs / 1000} s`));
        }, limitMs);
      });
    } finally {
      clearTimeout(timer);
      this.waiting = null;
    }
  }
}
