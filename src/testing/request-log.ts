import type { IncomingHttpHeaders } from 'node:http';
import type { Usage } from '../protocol/call';
import type { FaultKind } from './faults';
import type { Protocol } from './wire/wire';

/** How a request ended. `rejected`: it was no request this vendor would take, and got a 400. */
export type RequestOutcome =
  'answered' | 'rejected' | 'closed-by-client' | 'cancelled' | `fault:${FaultKind}`;

/**
 * One request as the server saw it, kept up to date until it ends. Headers and body are whole, keys included: tests
 * search them for leaks.
 *
 * A response in the background has one record, which is open until it is written, whether or not a client waits for it; requests about
 * it have records of their own, by their path.
 */
export interface RequestRecord {
  /** Position in the log, from 1. */
  readonly sequence: number;
  readonly protocol: Protocol;
  /** null where the request could not be decoded. */
  readonly model: string | null;
  readonly path: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: string;
  /** When the last byte of the request was read, in epoch milliseconds with fractions. */
  readonly receivedAt: number;
  /** When the response was handed to the socket; null while open or where there was none. */
  readonly respondedAt: number | null;
  /** null while the request is open. */
  readonly outcome: RequestOutcome | null;
  /** What the provider bills, whatever its reply said; null where it bills nothing, and while the request is open. */
  readonly usage: Usage | null;
  /** The same in nano-USD, 0 where it bills nothing; null while the request is open or where its model has no price. */
  readonly nanoUsd: number | null;
}

/** The end of a request, as far as the provider is concerned. */
export type Ending = Pick<RequestRecord, 'usage' | 'nanoUsd'> & { readonly outcome: RequestOutcome };

/** Told of each change the moment it happens, before the client can know of it. */
export type RequestObserver = (event: 'received' | 'finished', record: RequestRecord) => void;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface Waiter {
  readonly look: () => boolean;
  readonly fail: (reason: Error) => void;
}

/** A request that its client left before the answer. */
const LEFT: Ending = { outcome: 'closed-by-client', usage: null, nanoUsd: 0 };

/**
 * Every request in the order of arrival, and a way to wait for one without sleeping.
 *
 * An end is noted before its first byte is sent. So when the process is killed, a request without an end was not
 * billed, and one with an end was, though its answer may never have come.
 */
export class RequestLog {
  readonly #records: Writable<RequestRecord>[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #firstSequence: number;
  readonly #observe: RequestObserver;
  #closed = false;

  constructor(options: { readonly firstSequence: number; readonly observe?: RequestObserver | undefined }) {
    this.#firstSequence = options.firstSequence;
    this.#observe = options.observe ?? (() => undefined);
  }

  get records(): readonly RequestRecord[] {
    return this.#records;
  }

  open(request: Pick<RequestRecord, 'protocol' | 'model' | 'path' | 'headers' | 'body'>): RequestRecord {
    const record: RequestRecord = {
      sequence: this.#firstSequence + this.#records.length,
      ...request,
      receivedAt: now(),
      respondedAt: null,
      outcome: null,
      usage: null,
      nanoUsd: null,
    };
    this.#records.push(record);
    this.#tell('received', record);
    return record;
  }

  /** Only the first end of a request counts. */
  finish({ sequence }: RequestRecord, { outcome, usage, nanoUsd }: Ending): void {
    const record = this.#records[sequence - this.#firstSequence];
    if (record?.outcome !== null || this.#closed) return;
    Object.assign(record, { outcome, usage, nanoUsd });
    record.respondedAt = outcome === 'closed-by-client' ? null : now();
    this.#tell('finished', record);
  }

  /** Notes that the client left, if the request is still open. */
  abandon(record: RequestRecord): void {
    this.finish(record, LEFT);
  }

  /** Resolves with the first value that `look` finds, now or after any later change; rejects with what it throws. */
  waitFor<T>(look: () => T | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const attempt = (): boolean => {
        try {
          const found = look();
          if (found !== undefined) resolve(found);
          return found !== undefined;
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
          return true;
        }
      };
      if (!attempt()) this.#waiters.add({ look: attempt, fail: reject });
    });
  }

  /** Takes nothing more, and fails every wait that can no longer come true. */
  close(): void {
    this.#closed = true;
    const count = this.#records.length;
    const reason = new Error(
      `The simulated providers closed, with ${count} in the log, before what was waited for.`,
    );
    for (const waiter of this.#waiters) waiter.fail(reason);
    this.#waiters.clear();
  }

  #tell(event: 'received' | 'finished', record: RequestRecord): void {
    this.#observe(event, record);
    for (const waiter of [...this.#waiters]) {
      if (waiter.look()) this.#waiters.delete(waiter);
    }
  }
}

/** Finer than `Date.now()`, and comparable between processes of one machine. */
function now(): number {
  return performance.timeOrigin + performance.now();
}
