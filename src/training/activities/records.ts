import { ApplicationFailure } from '@temporalio/common';
import type { z } from 'zod';
import { FAILURES } from '../../protocol/failures';
import { readWhole, type Store } from '../../store/store';
import { readCheckpointId } from '../checkpoint-ref';
import { groupKey, metricsFolder, nightKey, runKey } from '../keys';
import { readJson } from '../policy/client';
import { cycleMetricsSchema } from '../progress';
import { type NightRecord, nightRecordSchema, type RunRecord, runRecordSchema } from '../records';
import { type GroupRecord, groupRecordSchema } from '../rollout';

// A loss of power leaves files that are empty, cut or full of zeros: such a record counts as missing. One that is whole and
// cannot be read is an error: it was altered, or is of another version, and must not be taken for none.

/** null before the first cycle of the training run is over. Where it was lost, the figures of its cycles say the same. */
export async function readRun(store: Store, trainRun: string): Promise<RunRecord | null> {
  const run = await readRecord(store, runKey(trainRun), runRecordSchema, BEGIN_ANEW);
  if (run !== null) return run;
  const figures = await store.list(metricsFolder(trainRun));
  for (const key of figures.reverse()) {
    const last = await readRecord(store, key, cycleMetricsSchema, BEGIN_ANEW);
    if (last !== null) {
      return { schema: 1, trainRun, done: last.cycle, checkpoint: readCheckpointId(last.checkpoint) };
    }
  }
  return null;
}

export function readNight(store: Store, trainRun: string, date: string): Promise<NightRecord | null> {
  return readRecord(store, nightKey(trainRun, date), nightRecordSchema, BEGIN_ANEW);
}

const BEGIN_ANEW = '; put back a copy, or begin a training run of another name';

class RecordError extends Error {
  override readonly name = 'RecordError';
}

/**
 * A record of the store; null where there is none, or what a loss of power left of one.
 *
 * @param advice ends the error's sentence
 * @throws RecordError for any other that cannot be read
 */
export function readRecord<T>(
  store: Store,
  key: string,
  schema: z.ZodType<T>,
  advice = '',
): Promise<T | null> {
  return readKind(store, { key, schema, advice });
}

export async function readKind<T>(store: Store, kind: RecordKind<T>): Promise<T | null> {
  return parseRecord(store, await readBytes(store, kind), kind);
}

/** Where a record lies, what it is made of, and how the sentence about one that cannot be read ends. */
export interface RecordKind<T> {
  readonly key: string;
  readonly schema: z.ZodType<T>;
  readonly advice: string;
  /** What is left of it is an error, too: there is nothing that could stand for it. */
  readonly mustBeWhole?: boolean;
}

function readBytes(store: Store, { key, mustBeWhole = false }: RecordKind<unknown>): Promise<Buffer | null> {
  return mustBeWhole
    ? store.read(key)
    : readWhole(store, key, (bytes) => readJson(bytes.toString('utf8')) !== null);
}

function parseRecord<T>(
  store: Store,
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
    const was = await readBytes(store, kind);
    const record = change(parseRecord(store, was, kind));
    if (record === null) return null;
    const bytes = Buffer.from(JSON.stringify(record));
    const isWritten = was === null ? createRecord(store, kind, bytes) : store.replace(kind.key, bytes, was);
    if (await isWritten) return record;
  }
}

/** Clears away what lies there and cannot be read. */
async function createRecord(store: Store, kind: RecordKind<unknown>, bytes: Uint8Array): Promise<boolean> {
  const { key } = kind;
  if (await store.create(key, bytes)) return true;
  const there = await store.stat(key);
  if (there !== null && (await readBytes(store, kind)) === null) {
    await store.removeOlder(key, new Date(there.modifiedAt.getTime() + 1));
  }
  return false;
}

/** Keeps how far a training run is; false where it is further already, as of an attempt that was thought lost. */
export async function advanceRun(store: Store, run: RunRecord): Promise<boolean> {
  const kind = { key: runKey(run.trainRun), schema: runRecordSchema, advice: BEGIN_ANEW };
  return (await changeRecord(store, kind, (was) => ((was?.done ?? 0) <= run.done ? run : null))) !== null;
}

export function writeNight(store: Store, night: NightRecord): Promise<void> {
  return writeRecord(store, nightKey(night.trainRun, night.date), night);
}

export async function writeRecord(store: Store, key: string, record: object): Promise<void> {
  await store.write(key, Buffer.from(JSON.stringify(record)));
}

/** Activity `conductor.train.keepGroup`: keeps the record of a group, and returns its key. */
export async function keepGroup(store: Store, group: GroupRecord): Promise<string> {
  const key = groupKey(group);
  await writeRecord(store, key, group);
  return key;
}

/** Those that no loss of power took. */
export async function readGroups(store: Store, keys: readonly string[]): Promise<GroupRecord[]> {
  const groups = await Promise.all(keys.map((key) => readGroup(store, key)));
  return groups.filter((group) => group !== null);
}

/**
 * null for what a loss of power left of one.
 *
 * @throws ApplicationFailure `Store.NotFound`, not retryable, for a group that is gone or cannot be read
 */
export async function readGroup(store: Store, key: string): Promise<GroupRecord | null> {
  let problem = `group ${key} is not in the store ${store.url}: was it removed, or is it another store?`;
  try {
    const group = await readRecord(store, key, groupRecordSchema);
    if (group !== null || (await store.stat(key)) !== null) return group;
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    problem = `group ${error.message}`;
  }
  throw ApplicationFailure.nonRetryable(problem, FAILURES.textNotFound);
}
