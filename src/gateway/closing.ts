import { setMaxListeners } from 'node:events';
import { Refusal } from './refusal';

/** How a gateway stops. */
export class Closing {
  private readonly beginning = new AbortController();
  private readonly ending = new AbortController();

  constructor() {
    // Each request under way listens.
    setMaxListeners(0, this.begun, this.over);
  }

  /** Aborted once no new work is taken. Streams that clients resume by themselves end now. */
  get begun(): AbortSignal {
    return this.beginning.signal;
  }

  /** Aborted once the time for work under way is over: what is left is ended, with a word on how to go on. */
  get over(): AbortSignal {
    return this.ending.signal;
  }

  begin(): void {
    this.beginning.abort();
  }

  end(): void {
    this.begin();
    this.ending.abort();
  }
}

/** Error for what a stopping gateway does not complete. @param id its solve, if one was started */
export function stopping(id?: string): Refusal {
  const remedy =
    id === undefined
      ? 'this gateway is stopping: send the request again'
      : `this gateway is stopping, but solve ${id} goes on: send the request again, or read the answer at /api/solves/${id}`;
  return new Refusal(503, remedy, { reason: 'gateway_stopping', retryAfterSeconds: 1, solve: id });
}
