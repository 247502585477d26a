import type { z } from 'zod';
import type { Store } from '../../store/store';
import { eachInParallel } from '../../store/sweep';
import { QuestionSets } from '../../evaluation/activities/question-sets';
import { readNight, readRecord } from '../activities/records';
import * as keys from '../store-keys';
import {
  type CycleMetrics,
  cycleMetricsSchema,
  type GroupRecord,
  groupRecordSchema,
  type NightRecord,
} from '../records';
import type { Question } from '../../grading/question';

// Each throws a RecordError that names a record which cannot be read.

/** Metrics of all finished cycles, oldest first. */
export async function readMetrics(store: Store, trainRun: string): Promise<CycleMetrics[]> {
  const cycles = await readAll(store, keys.metricsFolder(trainRun), cycleMetricsSchema);
  return cycles.sort((a, b) => a.cycle - b.cycle);
}

export function readCycle(store: Store, trainRun: string, cycle: number): Promise<CycleMetrics | null> {
  return readRecord(store, keys.metricsKey(trainRun, cycle), cycleMetricsSchema);
}

/** The groups of a cycle, as far as they are over, in the order they were drawn, later rounds after the first. */
export async function readGroups(store: Store, trainRun: string, cycle: number): Promise<GroupRecord[]> {
  const groups = await readAll(store, keys.groupsFolder(trainRun, cycle), groupRecordSchema);
  return groups.sort((a, b) => a.draw - b.draw || a.round - b.round);
}

async function readAll<Item>(store: Store, folder: string, schema: z.ZodType<Item>): Promise<Item[]> {
  const items: Item[] = [];
  await eachInParallel(await store.list(folder), async (key) => {
    const item = await readRecord(store, key, schema);
    if (item !== null) items.push(item);
  });
  return items;
}

/** A night as it lies in the store, with the metrics of its cycles that are over, the first one first. */
export type TrainedNight = NightRecord & { readonly cycles: readonly CycleMetrics[] };

/** Names of all training runs in the store, in alphabetical order. */
export async function listTrainRuns(store: Store): Promise<string[]> {
  const runs: string[] = [];
  for await (const { key } of store.entries(keys.TRAINING_FOLDER)) {
    const record = keys.readRecordKey(key);
    if (record?.date === null) runs.push(record.trainRun);
  }
  return runs.sort();
}

/** The nights of a training run, the first one first. */
export async function readNights(store: Store, trainRun: string): Promise<TrainedNight[]> {
  const listed = await store.list(keys.nightsFolder(trainRun));
  const dates = listed.flatMap((key) => keys.readRecordKey(key)?.date ?? []);
  const nights = await Promise.all(dates.map((date) => readNight(store, trainRun, date)));
  const metrics = await readMetrics(store, trainRun);
  return nights.flatMap((night) =>
    night === null ? [] : [{ ...night, cycles: metrics.filter((cycle) => cycle.night === night.date) }],
  );
}

/** The questions that a training run learned from, by id, as the sets of its nights have them in the store. */
export async function readTrainQuestions(store: Store, trainRun: string): Promise<Map<string, Question>> {
  const sets = new QuestionSets(store);
  const questions = new Map<string, Question>();
  for (const { cycles, train } of await readNights(store, trainRun)) {
    for (let index = 0; cycles.length > 0 && index < train.count; index += 1) {
      const question = await sets.read({ set: train.set, index });
      questions.set(question.id, question);
    }
  }
  return questions;
}
