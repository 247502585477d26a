import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { say } from '../../cli/terminal';
import { type CheckpointRef, readCheckpointId } from '../checkpoint-ref';
import { pin, promote, rollback } from '../policy/serving';
import { findTraining, type TrainOptions } from './session';

// These commands need no server.

interface Reasoned extends TrainOptions {
  readonly reason: string;
}

export async function promoteCheckpoint(
  checkpoint: string,
  { reason, ...options }: Reasoned,
): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  return told(await promote(store, readCheckpoint(checkpoint, trainRun), { reason, by: 'person' }));
}

export async function rollbackCheckpoint({ reason, ...options }: Reasoned): Promise<ExitCode> {
  const { store } = await findTraining(options);
  return told(await rollback(store, reason));
}

export async function pinCheckpoint({ off, ...options }: TrainOptions & { off: boolean }): Promise<ExitCode> {
  const { store } = await findTraining(options);
  return told(await pin(store, !off, off ? 'unpinned by hand' : 'pinned by hand'));
}

/** A checkpoint that serves already is no failure. */
function told({ sentence }: { readonly sentence: string }): ExitCode {
  say(`${sentence}.`);
  return EXIT.answered;
}

/** `<training run>/<name>`; for the command's own run also the name alone, or the number of its cycle. */
export function readCheckpoint(text: string, trainRun: string): CheckpointRef {
  const name = /^\d{1,6}$/.test(text) ? text.padStart(6, '0') : text;
  const checkpoint = readCheckpointId(name.includes('/') ? name : `${trainRun}/${name}`);
  if (checkpoint !== null) return checkpoint;
  throw new UsageError(
    `${JSON.stringify(text)} names no checkpoint: expected a cycle such as 40, or a name such as ${trainRun}/000040`,
  );
}
