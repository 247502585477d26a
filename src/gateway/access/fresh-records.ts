import type { z } from 'zod';
import { readRecord } from '../../store/records';
import type { Store } from '../../store/store';

/** How long a record is believed: what another process changed is seen this much later at most. */
const FRESH_MS = 5_000;

interface Read<Value> {
  readonly value: Promise<Value | null>;
  readonly at: number;
}

/** Records of a folder that are read for each request. Those that do not exist are forgotten at once: guesses take no memory. */
export class FreshRecords<Value> {
  private readonly known = new Map<string, Read<Value>>();

  constructor(
    private readonly store: Store,
    private readonly placeOf: (id: string) => string,
    private readonly schema: z.ZodType<Value>,
  ) {}

  /** Requests that come together wait for one reading. */
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
