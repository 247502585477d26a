import type { z } from 'zod';
import { readRecord } from '../../store/records';
import type { Store } from '../../store/store';

/** Lifetime of a cached record; a change by another process is seen at most this much later. */
const FRESH_MS = 5_000;

interface Read<Value> {
  readonly value: Promise<Value | null>;
  readonly at: number;
}

/** Cache of a folder's records, read on each request. Missing records are not kept: guesses take no memory. */
export class FreshRecords<Value> {
  private readonly known = new Map<string, Read<Value>>();

  constructor(
    private readonly store: Store,
    private readonly placeOf: (id: string) => string,
    private readonly schema: z.ZodType<Value>,
  ) {}

  /** Returns a record; concurrent requests share one read. */
  read(id: string): Promise<Value | null> {
    const now = performance.now();
    const before = this.known.get(id);
    if (before !== undefined && now - before.at < FRESH_MS) return before.value;
    const read = { value: readRecord(this.store, this.placeOf(id), this.schema), at: now };
    this.known.set(id, read);
    const forget = (): void => {
      if (this.known.get(id) === read) this.forget(id);
    };
    read.value.then((value) => {
      if (value === null) forget();
    }, forget);
    return read.value;
  }

  forget(id: string): void {
    this.known.delete(id);
  }
}
