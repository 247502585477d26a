import { pin, promote, rollback, type ServingChange } from '../../policy/serving';
import { readCheckpointId } from '../../training/checkpoint-id';
import type { CheckpointRef } from '../../training/train-input';
import { EXIT, type ExitCode } from '../exit-code';
import { say } from '../terminal';
import { UsageError } from '../usage-error';
import { findTraining, type TrainingPlace, type TrainOptions } from './open-training';

/** Has a checkpoint serve from the next solve on, whatever the gate says. Needs no server. */
export async function promoteCheckpoint(
  checkpoint: string,
  { reason = 'promoted by hand', ...options }: TrainOptions & { readonly reason?: string },
): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  return tell(await promote(store, readCheckpoint(checkpoint, trainRun), { reason, by: 'person' }));
}

/** Takes the last promotion back. */
export async function rollbackServing({
  reason = 'rolled back by hand',
  ...options
}: TrainOptions & { readonly reason?: string }): Promise<ExitCode> {
  const { store }: TrainingPlace = await findTraining(options);
  return tell(await rollback(store, reason));
}

/** Keeps gates from changing what serves, or lets them again. */
export async function pinServing({
  off = false,
  ...options
}: TrainOptions & { readonly off?: boolean }): Promise<ExitCode> {
  const { store } = await findTraining(options);
  return tell(await pin(store, !off, off ? 'unpinned by hand' : 'pinned by hand'));
}

/** `<training run>/<name>`; of the command's own run the name alone, or the number of the cycle that made it. */
export function readCheckpoint(text: string, trainRun: string): CheckpointRef {
  const name = /^\d{1,6}$/.test(text) ? text.padStart(6, '0') : text;
  const checkpoint = readCheckpointId(name.includes('/') ? name : `${trainRun}/${name}`);
  if (checkpoint !== null) return checkpoint;
  throw new UsageError(
    `${JSON.stringify(text)} names no checkpoint: expected a cycle such as 40, or a name such as ${trainRun}/000040`,
  );
}

/** Nothing changed because it is so already, which is what was asked for. */
function tell({ sentence }: ServingChange): ExitCode {
  say(`${sentence}.`);
  return EXIT.answered;
}
