import type { IncomingHttpHeaders } from 'node:http';
import type { Usage } from '../protocol/call';
import type { FaultKind } from './faults';
import type { Protocol } from './wire/wire';

/** How a request ended. `rejected`: it was no request this vendor would take, and got a 400. */
export type Outcome = 'answered' | 'rejected' | 'closed-by-client' | `fault:${FaultKind}`;

/**
 * One request as the server saw it, kept up to date until it ends. Headers and body are whole, keys included: tests
 * search them for leaks.
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
  readonly outcome: Outcome | null;
  /** What the provider would bill; null where it would bill nothing, and for requests not answered. */
  readonly usage: Usage | null;
}

/** Told of each change the moment it happens, before the client can know of it. */
export type RequestObserver = (event: 'received' | 'finished', record: RequestRecord) => void;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

interface Waiter {
  readonly look: () => boolean;
  readonly fail: (reason: Error) => void;
}

/** Every request in the order of arrival, and a way to wait for one without sleeping. */
export class RequestLog {
  readonly #records: Writable<RequestRecord>[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #observe: RequestObserver;
  #closed = false;

  constructor(observe: RequestObserver = () => undefined) {
    this.#observe = observe;
  }

  get records(): readonly RequestRecord[] {
    return this.#records;
  }

  open(request: Pick<RequestRecord, 'protocol' | 'model' | 'path' | 'headers' | 'body'>): RequestRecord {
    const record: RequestRecord = {
      sequence: this.#records.length + 1,
      ...request,
      receivedAt: now(),
      respondedAt: null,
      outcome: null,
      usage: null,
    };
    this.#records.push(record);
    this.#tell('received', record);
    return record;
  }

  /** Only the first end of a request counts. */
  finish({ sequence }: RequestRecord, outcome: Outcome, usage: Usage | null): void {
    const record = this.#records[sequence - 1];
    if (record?.outcome !== null || this.#closed) return;
    record.respondedAt = outcome === 'closed-by-client' ? null : now();
    record.outcome = outcome;
    record.usage = usage;
    this.#tell('finished', record);
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
