import { createHash } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { z } from 'zod';
import { FAILURES } from '../../protocol/failures';
import type { Store } from '../../store/store';
import { groupKey, nightKey, runKey, trialKey } from '../keys';
import { readCheckpointId } from '../manifest';
import { readJson } from '../policy/client';
import { type NightRecord, nightRecordSchema, type RunRecord, runRecordSchema } from '../records';
import { type GroupRecord, groupRecordSchema } from '../rollout';

/** How far a training run has come; null before its first night. */
export function readRun(store: Store, trainRun: string): Promise<RunRecord | null> {
  return read(store, runKey(trainRun), runRecordSchema);
}

/** What became of a night; null where there was none of that date. */
export function readNight(store: Store, trainRun: string, date: string): Promise<NightRecord | null> {
  return read(store, nightKey(trainRun, date), nightRecordSchema);
}

export async function writeRun(store: Store, run: RunRecord): Promise<void> {
  await store.write(runKey(run.trainRun), Buffer.from(JSON.stringify(run)));
}

export async function writeNight(store: Store, night: NightRecord): Promise<void> {
  await store.write(nightKey(night.trainRun, night.date), Buffer.from(JSON.stringify(night)));
}

/** @throws Error where something else lies there: nobody may take that for a run that never was */
async function read<T>(store: Store, key: string, schema: z.ZodType<T>): Promise<T | null> {
  const bytes = await store.read(key);
  if (bytes === null) return null;
  const { success, data, error } = schema.safeParse(readJson(bytes.toString('utf8')));
  if (success) return data;
  throw new Error(
    `${key} in the store ${store.url} cannot be read at ${error.issues[0]?.path.join('.') ?? ''}: it is of another ` +
      'version of this package, or was altered; put back a copy, or begin a training run of another name',
  );
}

/** Activity `conductor.train.keepGroup`: keeps what became of a group, and says where. */
export async function keepGroup({ store }: { readonly store: Store }, group: GroupRecord): Promise<string> {
  const key = keyOf(group);
  await store.write(key, Buffer.from(JSON.stringify(group)));
  return key;
}

/**
 * A group as it was kept.
 *
 * @throws ApplicationFailure `Store.NotFound`, not retryable, that names a group which is gone or cannot be read
 */
export async function readGroup(store: Store, key: string): Promise<GroupRecord> {
  const bytes = await store.read(key);
  if (bytes === null) {
    throw lost(`group ${key} is not in the store ${store.url}: was it removed, or is it another store?`);
  }
  const { success, data, error } = groupRecordSchema.safeParse(readJson(bytes.toString('utf8')));
  if (success) return data;
  throw lost(
    `group ${key} in the store ${store.url} cannot be read at ${error.issues[0]?.path.join('.') ?? ''}: it is of ` +
      'another version of this package, or was altered',
  );
}

function keyOf(group: GroupRecord): string {
  const { purpose, trainRun, cycle, draw, round, checkpoint } = group;
  if (purpose === 'training') return groupKey(trainRun, cycle, draw, round);
  return trialKey({ ...group, checkpoint: readCheckpointId(checkpoint) });
}

function lost(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FAILURES.textNotFound);
}

/** Bytes in the store, and what they hash to: what the trainer is told of a file. */
export interface StoredData {
  readonly key: string;
  readonly sha256: string;
}

/** Keeps values as JSON lines under a key that their digest is part of, so that the same are there once. */
export async function keepLines(
  store: Store,
  values: readonly unknown[],
  keyOf: (sha256: string) => string,
): Promise<StoredData> {
  const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const key = keyOf(sha256);
  if ((await store.stat(key)) === null) await store.write(key, bytes);
  return { key, sha256 };
}
