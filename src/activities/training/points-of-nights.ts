import type { Store } from '../../store/store';
import { isOvertaken } from '../../training/claim-night';
import { TRAINING_FOLDER, readRecordKey } from '../../training/keys';
import type { RunRecord } from '../../training/records';
import type { CheckpointRef } from '../../training/train-input';
import { readNight, readRun } from './records';

/**
 * Checkpoints that nights stand on, over all training runs of a store: what the next night of each goes on from, and for
 * a night that is under way or was interrupted, where it stands and where it began. One that a later night has overtaken
 * never goes on from there.
 */
export async function pointsOfNights(store: Store): Promise<CheckpointRef[]> {
  const points: (CheckpointRef | null | undefined)[] = [];
  const runs = new Map<string, RunRecord | null>();
  for await (const { key } of store.entries(TRAINING_FOLDER)) {
    const record = readRecordKey(key);
    if (record === null) continue;
    const { trainRun, date } = record;
    // Before its nights: one that is under way notes a cycle before its run does, and so never looks overtaken.
    const run = runs.get(trainRun) ?? (await readRun(store, trainRun));
    runs.set(trainRun, run);
    if (date === null) continue;
    const night = await readNight(store, trainRun, date);
    if (night?.closedAt === null && !isOvertaken(night, run)) points.push(night.checkpoint, night.begun);
  }
  for (const run of runs.values()) points.push(run?.checkpoint);
  return points.filter((point) => point !== null && point !== undefined);
}
