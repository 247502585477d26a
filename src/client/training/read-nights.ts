import { readNight } from '../../activities/training/records';
import type { Store } from '../../store/store';
import { nightsFolder, readRecordKey, TRAINING_FOLDER } from '../../training/keys';
import { isNightDate } from '../../training/night-date';
import type { CycleMetrics } from '../../training/progress';
import type { NightRecord } from '../../training/records';
import { readMetrics } from './read-cycles';

/** A night as it lies in the store, with the metrics of its cycles that are over, the first one first. */
export type TrainedNight = NightRecord & { readonly cycles: readonly CycleMetrics[] };

/** Names of all training runs in the store, in alphabetical order. */
export async function listTrainRuns(store: Store): Promise<string[]> {
  const runs: string[] = [];
  for await (const { key } of store.entries(TRAINING_FOLDER)) {
    const record = readRecordKey(key);
    if (record?.date === null) runs.push(record.trainRun);
  }
  return runs.sort();
}

/** The nights of a training run, the first one first. */
export async function readNights(store: Store, trainRun: string): Promise<TrainedNight[]> {
  const folder = nightsFolder(trainRun);
  const names = (await store.list(folder)).map((key) => key.slice(folder.length).replace(/\.json$/, ''));
  const nights = await Promise.all(names.filter(isNightDate).map((date) => readNight(store, trainRun, date)));
  const metrics = await readMetrics(store, trainRun);
  return nights.flatMap((night) =>
    night === null ? [] : [{ ...night, cycles: metrics.filter((cycle) => cycle.night === night.date) }],
  );
}
