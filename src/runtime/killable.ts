import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { reasonOf } from '../errors';
import { Turns, within } from './turns';

/** A thread or process that answers one request at a time. */
export interface Helper {
  post(request: unknown): void;
  /** Messages; the first one says that the helper is ready. The iterator ends, or throws, when the helper ends. */
  readonly answers: AsyncIterator<unknown>;
  kill(): void;
}

/** Thrown if the helper cannot answer: it took too long and was ended, or ended by itself. */
export class HelperError extends Error {
  override readonly name: string = 'HelperError';
}

/** Thrown if no helper could be started, which is not the request's fault. */
export class NotStartedError extends HelperError {
  override readonly name = 'NotStartedError';
}

/** Idle time after which helpers are stopped to free their memory. */
const IDLE_MS = 60_000;

/**
 * Asks helpers that may never answer: one that takes too long is killed, and a later request starts a new one. The
 * first request starts the first helper. Requests beyond the number of helpers wait, and the timeout of each starts
 * when it is sent.
 */
export class Killable {
  private readonly turns: Turns;
  private readonly free: Helper[] = [];
  private idle: NodeJS.Timeout | undefined;

  constructor(
    private readonly start: () => Helper,
    /** Timeouts for the first message, which says that the helper is ready, and for one answer. */
    private readonly limits: { readonly startMs: number; readonly answerMs: number },
    /** Most helpers at once. */
    most = 1,
  ) {
    this.turns = new Turns(most);
  }

  /** @throws HelperError */
  ask(request: unknown): Promise<unknown> {
    return this.turns.take(() => this.askNow(request));
  }

  /** Stops the helpers that have nothing to do. */
  stop(): void {
    clearTimeout(this.idle);
    for (const helper of this.free.splice(0)) helper.kill();
  }

  private async askNow(request: unknown): Promise<unknown> {
    clearTimeout(this.idle);
    const helper = this.free.pop() ?? (await this.begin());
    const answer = await unlessEnded(helper, async () => {
      helper.post(request);
      return nextAnswer(helper, this.limits.answerMs);
    });
    this.free.push(helper);
    this.idle = setTimeout(() => {
      this.stop();
    }, IDLE_MS).unref();
    return answer;
  }

  private async begin(): Promise<Helper> {
    const helper = this.start();
    try {
      await unlessEnded(helper, () => nextAnswer(helper, this.limits.startMs));
    } catch (error) {
      if (!(error instanceof HelperError)) throw error;
      throw new NotStartedError(
        `a helper beside this process did not start (${error.message}): see whether this machine has memory left`,
      );
    }
    return helper;
  }
}

/** Does what a helper is needed for; a helper that failed at it is of no use any more. */
async function unlessEnded<T>(helper: Helper, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    helper.kill();
    throw error;
  }
}

async function nextAnswer({ answers }: Helper, limitMs: number): Promise<unknown> {
  const next = await within(limitMs, answers.next());
  if (next === null) throw new HelperError(`there was no answer in ${limitMs / 1000} s`);
  if (next.done === true) throw new HelperError('it ended');
  return next.value;
}

/** Starts a thread as a helper. @param file plain JavaScript, loaded as it is @param memoryMb that ends it if exceeded */
export function startThread(file: string, memoryMb: number): Helper {
  const resourceLimits = { maxOldGenerationSizeMb: memoryMb };
  const worker = new Worker(file, { resourceLimits, stdout: true, stderr: true });
  // Node takes no notice of this before the thread runs.
  worker.once('message', () => {
    worker.unref();
  });
  return {
    post: (request) => {
      worker.postMessage(request);
    },
    answers: messagesOf(worker),
    kill: () => void worker.terminate(),
  };
}

async function* messagesOf(worker: Worker): AsyncGenerator {
  try {
    const messages = on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[unknown]>;
    for await (const [message] of messages) yield message;
  } catch (error) {
    throw new HelperError(reasonOf(error));
  }
}
