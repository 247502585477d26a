import type { z } from 'zod';
import { readQuestionSet } from '../../evaluation/activities';
import type { Question } from '../../grading/question';
import { changeRecord, readRecord, RecordError, readRecords, writeRecord } from '../../store/records';
import type { Store } from '../../store/store';
import type { CycleMetrics, GroupRecord, NightRecord, RunRecord } from '../records';
import * as schemas from '../records';
import * as keys from '../store-keys';

/** Makes a reader of one kind of record from its schema and the function that names its keys. */
const reader =
  <Place extends unknown[], T>(keyOf: (...place: Place) => string, schema: z.ZodType<T>) =>
  (store: Store, ...place: Place): Promise<T | null> =>
    readRecord(store, keyOf(...place), schema);

export const readTrainRun = reader(keys.runKey, schemas.runRecordSchema);
export const readNight = reader(keys.nightKey, schemas.nightRecordSchema);
export const readCycle = reader(keys.metricsKey, schemas.cycleMetricsSchema);
export const readRightPlans = reader(keys.rightPlansKey, schemas.rightPlansSchema);
export const readGate = reader(keys.gateKey, schemas.gateRecordSchema);
export const readCanary = reader(keys.canaryKey, schemas.canaryRecordSchema);

/** Stores how far a training run is; false if it is further already, e.g. for a timed-out attempt that still runs. */
export function advanceRun(store: Store, run: RunRecord): Promise<boolean> {
  return changeRecord(store, keys.runKey(run.trainRun), schemas.runRecordSchema, (was) =>
    (was?.done ?? 0) <= run.done ? [run, true] : [null, false],
  );
}

export function writeNight(store: Store, night: NightRecord): Promise<void> {
  return writeRecord(store, keys.nightKey(night.trainRun, night.date), night);
}

export async function keepGroup(store: Store, group: GroupRecord): Promise<string> {
  const key = keys.groupKey(group);
  await writeRecord(store, key, group);
  return key;
}

export function readGroups(store: Store, groups: readonly string[]): Promise<GroupRecord[]> {
  return Promise.all(groups.map((key) => readGroup(store, key)));
}

export async function readGroup(store: Store, key: string): Promise<GroupRecord> {
  return present(await readRecord(store, key, schemas.groupRecordSchema), `group ${key}`, store);
}

/** @throws RecordError if there is no such record */
export function present<T>(record: T | null, name: string, { url }: Store): T {
  if (record !== null) return record;
  throw new RecordError(
    `${name} is not in the store ${url}: give all workers the same store, or restore it from a backup`,
  );
}

export async function readMetrics(store: Store, trainRun: string): Promise<CycleMetrics[]> {
  const cycles = await readRecords(store, keys.metricsFolder(trainRun), schemas.cycleMetricsSchema);
  return cycles.sort((a, b) => a.cycle - b.cycle);
}

/** Returns the finished groups of a cycle in draw order, later rounds after the first. */
export async function readCycleGroups(store: Store, trainRun: string, cycle: number): Promise<GroupRecord[]> {
  const groups = await readRecords(store, keys.groupsFolder(trainRun, cycle), schemas.groupRecordSchema);
  return groups.sort((a, b) => a.draw - b.draw || a.round - b.round);
}

export type TrainedNight = NightRecord & { readonly cycles: readonly CycleMetrics[] };

export async function listTrainRuns(store: Store): Promise<string[]> {
  const runs: string[] = [];
  for await (const { key } of store.entries(keys.TRAINING_FOLDER)) {
    const record = keys.readRecordKey(key);
    if (record?.date === null) runs.push(record.trainRun);
  }
  return runs.sort();
}

export async function readNights(store: Store, trainRun: string): Promise<TrainedNight[]> {
  const listed = await store.list(keys.nightsFolder(trainRun));
  const dates = listed.flatMap((key) => keys.readRecordKey(key)?.date ?? []);
  const nights = await Promise.all(dates.map((date) => readNight(store, trainRun, date)));
  const metrics = await readMetrics(store, trainRun);
  return nights.flatMap((night) =>
    night === null ? [] : [{ ...night, cycles: metrics.filter((cycle) => cycle.night === night.date) }],
  );
}

/** @param only the one training run to read; default: all that the store has */
export async function readTrainRuns(
  store: Store,
  only?: string,
): Promise<{ readonly trainRun: string; readonly nights: readonly TrainedNight[] }[]> {
  const names = only === undefined ? await listTrainRuns(store) : [only];
  return Promise.all(
    names.map(async (trainRun) => ({ trainRun, nights: await readNights(store, trainRun) })),
  );
}

export async function readTrainQuestions(store: Store, trainRun: string): Promise<Map<string, Question>> {
  const nights = await readNights(store, trainRun);
  const sets = new Set(nights.filter(({ cycles }) => cycles.length > 0).map(({ train }) => train.set));
  const questions = new Map<string, Question>();
  for (const set of sets) {
    for (const question of await readQuestionSet(store, set)) questions.set(question.id, question);
  }
  return questions;
}
