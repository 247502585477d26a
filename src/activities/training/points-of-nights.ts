import type { Store } from '../../store/store';
import { isOvertaken } from '../../training/claim-night';
import { TRAINING_FOLDER, readRecordKey } from '../../training/keys';
import type { CheckpointRef } from '../../training/train-input';
import { readNight, readRun } from './records';

/**
 * Checkpoints that nights stand on, over all training runs of a store: what the next night of each goes on from, and for
 * a night that is under way or was interrupted, where it stands and where it began. One that a later night has overtaken
 * never goes on from there.
 */
export async function pointsOfNights(store: Store): Promise<CheckpointRef[]> {
  const points: (CheckpointRef | null | undefined)[] = [];
  for await (const { key } of store.entries(TRAINING_FOLDER)) {
    const record = readRecordKey(key);
    if (record === null) continue;
    const { trainRun, date } = record;
    // In this order: a night that is under way notes a cycle before its run does, and so never looks overtaken.
    const run = await readRun(store, trainRun);
    const night = date === null ? null : await readNight(store, trainRun, date);
    points.push(run?.checkpoint);
    if (night?.closedAt === null && !isOvertaken(night, run)) points.push(night.checkpoint, night.begun);
  }
  return points.filter((point) => point !== null && point !== undefined);
}
