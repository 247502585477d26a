import { EventEmitter, once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Usage } from '../protocol/solve';
import type { FaultKind } from './faults';
import type { Protocol } from './wire/wire';

/** How a request ended. `rejected`: a 400, as the vendor would send, or a 404 for an unknown background response. */
export type RequestOutcome =
  'answered' | 'rejected' | 'closed-by-client' | 'cancelled' | `fault:${FaultKind}`;

/** One request, API keys included, updated until it ends. A background response is one request, a lookup another. */
export interface RequestRecord {
  readonly sequence: number;
  readonly protocol: Protocol;
  readonly model: string | null;
  readonly path: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: string;
  /** When the last byte of the request was read, in epoch milliseconds with fractions. */
  readonly receivedAt: number;
  /** When the response was passed to the socket; null if there is none, or while the request is open. */
  readonly respondedAt: number | null;
  readonly outcome: RequestOutcome | null;
  /** Usage that the provider bills, whatever its reply states; null if nothing is billed or the request is open. */
  readonly usage: Usage | null;
  /** Bill in nano-USD, 0 if nothing is billed; null while the request is open or if its model has no price. */
  readonly nanoUsd: number | null;
}

/** Called at each change, before the client can know about it. */
export type RequestObserver = (event: 'received' | 'finished', record: RequestRecord) => void;

type Ending = Pick<RequestRecord, 'usage' | 'nanoUsd'> & { readonly outcome: RequestOutcome };

/**
 * All requests in order of arrival. An end is logged before the first byte of the response is sent: if the process is
 * killed, requests without an end were not billed, and those with an end were.
 */
export class RequestLog {
  readonly records: RequestRecord[] = [];
  private readonly changes = new EventEmitter().setMaxListeners(0);
  private closed = false;

  constructor(
    readonly firstSequence: number,
    readonly observe?: RequestObserver,
  ) {}

  open(request: Pick<RequestRecord, 'protocol' | 'model' | 'path' | 'headers' | 'body'>): RequestRecord {
    const record: RequestRecord = {
      sequence: this.firstSequence + this.records.length,
      ...request,
      receivedAt: now(),
      respondedAt: null,
      outcome: null,
      usage: null,
      nanoUsd: null,
    };
    this.records.push(record);
    this.changed('received', record);
    return record;
  }

  finish(record: RequestRecord, ending: Ending): void {
    if (record.outcome !== null || this.closed) return;
    const respondedAt = ending.outcome === 'closed-by-client' ? null : now();
    Object.assign(record, ending, { respondedAt });
    this.changed('finished', record);
  }

  /** Resolves with the first value that `look` returns, now or after a change; rejects with what it throws. */
  async waitFor<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.closed) {
        const count = `with ${this.records.length} in the log`;
        throw new Error(`The simulated providers closed, ${count}, before what was waited for.`);
      }
      await once(this.changes, 'change');
    }
  }

  close(): void {
    this.closed = true;
    this.changes.emit('change');
  }

  private changed(event: 'received' | 'finished', record: RequestRecord): void {
    this.observe?.(event, record);
    this.changes.emit('change');
  }
}

/** Finer than `Date.now()`, and comparable between processes of one machine. */
function now(): number {
  return performance.timeOrigin + performance.now();
}
