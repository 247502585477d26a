import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { Store } from '../../store/store';

// Small JSON documents in the store, which several gateways and commands read and change.

/** The document under a key, or null. */
export async function readDocument<Value>(
  store: Store,
  key: string,
  schema: z.ZodType<Value>,
): Promise<Value | null> {
  const bytes = await store.read(key);
  return bytes === null ? null : parse(bytes, schema, `${key} in the store ${store.url}`);
}

/**
 * Changes a document by compare and set, again from its start where another process was quicker. `work` gets null where
 * there is none yet; it gives the next document, or null to leave this one, and a result for the caller.
 */
export async function changeDocument<Value, Result>(
  store: Store,
  key: string,
  schema: z.ZodType<Value>,
  work: (value: Value | null) => readonly [next: Value | null, result: Result],
): Promise<Result> {
  for (let conflicts = 0; ; conflicts += 1) {
    const was = await store.read(key);
    const value = was === null ? null : parse(was, schema, `${key} in the store ${store.url}`);
    const [next, result] = work(value);
    if (next === null || (await put(store, key, encode(schema.parse(next)), was))) return result;
    await pause(Math.random() * 10 * conflicts);
  }
}

/** How long a document is believed: what another process changed is seen this much later at most. */
const FRESH_MS = 5_000;

interface Read<Value> {
  readonly value: Promise<Value | null>;
  readonly at: number;
}

/** Documents of a folder that are read for each request. Those that do not exist are forgotten at once: guesses take no memory. */
export class FreshDocuments<Value> {
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
    const read = { value: readDocument(this.store, this.placeOf(id), this.schema), at: now };
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

export function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function put(store: Store, key: string, bytes: Buffer, was: Buffer | null): Promise<boolean> {
  return was === null ? store.create(key, bytes) : store.replace(key, bytes, was);
}

function parse<Value>(bytes: Buffer, schema: z.ZodType<Value>, place: string): Value {
  try {
    return schema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    const what = `${place} cannot be read: it was altered, or a newer version wrote it`;
    throw new Error(`${what}; put back a copy, or update temporal-conductor`, { cause });
  }
}
