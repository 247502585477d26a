import type { Store } from '../../store/store';
import { TRAINING_FOLDER, readRecordKey } from '../../training/keys';
import type { CheckpointRef } from '../../training/train-input';
import { readNight, readRun } from './records';

/**
 * Checkpoints that nights stand on, over all training runs of a store: what the next night of each goes on from, and for
 * a night that is under way or was interrupted, where it stands and where it began.
 */
export async function pointsOfNights(store: Store): Promise<CheckpointRef[]> {
  const points: (CheckpointRef | null | undefined)[] = [];
  for await (const { key } of store.entries(TRAINING_FOLDER)) {
    const record = readRecordKey(key);
    if (record === null) continue;
    const { trainRun, date } = record;
    if (date === null) {
      points.push((await readRun(store, trainRun))?.checkpoint);
      continue;
    }
    const night = await readNight(store, trainRun, date);
    if (night?.closedAt === null) points.push(night.checkpoint, night.begun);
  }
  return points.filter((point) => point !== null && point !== undefined);
}
