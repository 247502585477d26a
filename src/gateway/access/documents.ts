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
