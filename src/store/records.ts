import { hash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { ConductorError } from '../errors';
import { eachInParallel, type Store } from './store';

// Small JSON records in the store, which several processes read and change.

/** Thrown for a record that is gone, altered or of another version. Never treat it as one that did not exist. */
export class RecordError extends ConductorError {
  override readonly name = 'RecordError';
  readonly code = 'TextNotFound';
}

type Readable = Pick<Store, 'url' | 'read'>;

/** Returns the record under a key, or null if there is none. @throws RecordError if it cannot be read */
export async function readRecord<T>(store: Readable, key: string, schema: z.ZodType<T>): Promise<T | null> {
  return parseRecord(store, key, schema, await store.read(key));
}

/** Returns all records of a folder in the order of their keys. @throws RecordError if one cannot be read */
export async function readRecords<T>(store: Store, folder: string, schema: z.ZodType<T>): Promise<T[]> {
  const records: (T | null)[] = [];
  await eachInParallel((await store.list(folder)).entries(), async ([at, key]) => {
    records[at] = await readRecord(store, key, schema);
  });
  return records.filter((record) => record !== null);
}

function parseRecord<T>(store: Readable, key: string, schema: z.ZodType<T>, bytes: Buffer | null): T | null {
  if (bytes === null) return null;
  const { success, data, error } = schema.safeParse(valueOf(bytes));
  if (success) return data;
  const place = error.issues[0]?.path.join('.') ?? '';
  throw new RecordError(
    `${key} in the store ${store.url} cannot be read${place === '' ? '' : ` at ${place}`}: ` +
      'it was written by another version of this package, or was altered; restore it from a backup',
  );
}

/** Returns null for invalid JSON: no record is null. */
function valueOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

export async function writeRecord(store: Pick<Store, 'write'>, key: string, record: object): Promise<void> {
  await store.write(key, bytesOf(record));
}

/** Serialises a record, for callers that write it with other methods of the store. */
export function bytesOf(record: object): Buffer {
  return Buffer.from(JSON.stringify(record));
}

/**
 * Changes a record by compare-and-set, and starts again if another process was quicker. `change` receives the record,
 * or null if there is none. It returns the next record, or null to leave this one, and a result for the caller.
 */
export async function changeRecord<T extends object, Result>(
  store: Store,
  key: string,
  schema: z.ZodType<T>,
  change: (record: T | null) => readonly [next: T | null, result: Result],
): Promise<Result> {
  for (let conflicts = 0; ; conflicts += 1) {
    const was = await store.read(key);
    const [next, result] = change(parseRecord(store, key, schema, was));
    if (next === null) return result;
    const bytes = bytesOf(next);
    const isWritten = was === null ? store.create(key, bytes) : store.replace(key, bytes, was);
    if (await isWritten) return result;
    await pause(Math.random() * 10 * conflicts);
  }
}

/** Stores values as JSON lines under a key made of their digest, so that equal lists are stored once. */
export async function keepLines(
  store: Pick<Store, 'write'>,
  values: readonly unknown[],
  keyFor: (sha256: string) => string,
): Promise<{ readonly key: string; readonly sha256: string }> {
  const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  const digest = hash('sha256', bytes);
  const key = keyFor(digest);
  await store.write(key, bytes);
  return { key, sha256: digest };
}
