import { ApplicationFailure } from '@temporalio/common';
import type { z } from 'zod';
import { FAILURES } from '../../protocol/failures';
import type { Store } from '../../store/store';
import { groupKey, nightKey, runKey } from '../store-keys';
import { readJson } from '../policy/client';
import { type NightRecord, nightRecordSchema, type RunRecord, runRecordSchema } from '../records';
import { type GroupRecord, groupRecordSchema } from '../rollout';

// A record that cannot be read is an error, and must not be taken for none.

/** null before the first cycle of the training run is over. */
export function readRun(store: Store, trainRun: string): Promise<RunRecord | null> {
  return readRecord(store, runKey(trainRun), runRecordSchema, BEGIN_ANEW);
}

export function readNight(store: Store, trainRun: string, date: string): Promise<NightRecord | null> {
  return readRecord(store, nightKey(trainRun, date), nightRecordSchema, BEGIN_ANEW);
}

type Readable = Pick<Store, 'url' | 'read'>;

const BEGIN_ANEW = '; put back a copy, or begin a training run of another name';

/** Thrown for a record that was altered, or is of another version. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

/**
 * A record of the store; null where there is none.
 *
 * @param advice ends the error's sentence
 * @throws RecordError for one that cannot be read
 */
export async function readRecord<T>(
  store: Readable,
  key: string,
  schema: z.ZodType<T>,
  advice = '',
): Promise<T | null> {
  return parseRecord(store, await store.read(key), { key, schema, advice });
}

/** Where a record lies, what it is made of, and how the sentence about one that cannot be read ends. */
export interface RecordKind<T> {
  readonly key: string;
  readonly schema: z.ZodType<T>;
  readonly advice: string;
}

function parseRecord<T>(
  store: Readable,
  bytes: Buffer | null,
  { key, schema, advice }: RecordKind<T>,
): T | null {
  if (bytes === null) return null;
  const { success, data, error } = schema.safeParse(readJson(bytes.toString('utf8')));
  if (success) return data;
  const place = error.issues[0]?.path.join('.') ?? '';
  throw new RecordError(
    `${key} in the store ${store.url} cannot be read${place === '' ? '' : ` at ${place}`}: ` +
      `it is of another version of this package, or was altered${advice}`,
  );
}

/**
 * Changes a record that several processes may change at once: each sees what the one before it wrote.
 *
 * @param change returns null where nothing is to be changed
 * @returns the record as it was written; null where nothing was
 */
export async function changeRecord<T extends object>(
  store: Store,
  kind: RecordKind<T>,
  change: (record: T | null) => T | null,
): Promise<T | null> {
  for (;;) {
    const was = await store.read(kind.key);
    const record = change(parseRecord(store, was, kind));
    if (record === null) return null;
    const bytes = Buffer.from(JSON.stringify(record));
    const isWritten = was === null ? store.create(kind.key, bytes) : store.replace(kind.key, bytes, was);
    if (await isWritten) return record;
  }
}

/** Keeps how far a training run is; false where it is further already, as of an attempt that was thought lost. */
export async function advanceRun(store: Store, run: RunRecord): Promise<boolean> {
  const kind = { key: runKey(run.trainRun), schema: runRecordSchema, advice: BEGIN_ANEW };
  return (await changeRecord(store, kind, (was) => ((was?.done ?? 0) <= run.done ? run : null))) !== null;
}

export function writeNight(store: Store, night: NightRecord): Promise<void> {
  return writeRecord(store, nightKey(night.trainRun, night.date), night);
}

export async function writeRecord(store: Pick<Store, 'write'>, key: string, record: object): Promise<void> {
  await store.write(key, Buffer.from(JSON.stringify(record)));
}

/** Activity `conductor.train.keepGroup`: keeps the record of a group, and returns its key. */
export async function keepGroup(store: Store, group: GroupRecord): Promise<string> {
  const key = groupKey(group);
  await writeRecord(store, key, group);
  return key;
}

export function readGroups(store: Store, keys: readonly string[]): Promise<GroupRecord[]> {
  return Promise.all(keys.map((key) => readGroup(store, key)));
}

/** @throws ApplicationFailure `Store.NotFound`, not retryable, for a group that is gone or cannot be read */
export async function readGroup(store: Store, key: string): Promise<GroupRecord> {
  let problem = `group ${key} is not in the store ${store.url}: was it removed, or is it another store?`;
  try {
    const group = await readRecord(store, key, groupRecordSchema);
    if (group !== null) return group;
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    problem = `group ${error.message}`;
  }
  throw ApplicationFailure.nonRetryable(problem, FAILURES.textNotFound);
}
