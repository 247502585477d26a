import type { CheckpointRef } from './train-input';

/** For errors: how a checkpoint is named. */
export const CHECKPOINT_FORM = 'the name of a checkpoint, <training run>/<name>, e.g. nightly/000040';

/** Reads what `checkpointId` writes; null for anything else. Both parts are fit to be part of a key of the store. */
export function readCheckpointId(text: string): CheckpointRef | null {
  const [, trainRun, name] = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9-]{0,62})$/.exec(text) ?? [];
  return trainRun === undefined || name === undefined ? null : { trainRun, name };
}
