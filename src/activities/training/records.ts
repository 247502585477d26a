import type { z } from 'zod';
import { readJson } from '../../policy/read-json';
import type { Store } from '../../store/store';
import { nightKey, runKey } from '../../training/keys';
import { nightRecordSchema, runRecordSchema, type NightRecord, type RunRecord } from '../../training/records';

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
