import type { AddCommands } from '../../cli/arguments';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { say } from '../../cli/terminal';
import { type CheckpointRef, readCheckpointId } from '../checkpoint-ref';
import { pin, promote, rollback } from '../policy/serving';
import { findTraining, settling, type TrainOptions } from './session';

/** These commands need no server. */
export const addServing: AddCommands = (train, settle) => {
  train
    .command('promote')
    .description('have a checkpoint serve from the next solve on, whatever the gate says')
    .argument('<checkpoint>', 'number of its cycle, or its name, e.g. nightly/000040')
    .option('--reason <text>', 'kept beside it', 'promoted by hand')
    .action(settling(settle, promoteCheckpoint));
  train
    .command('rollback')
    .description('have the checkpoint before it serve again')
    .option('--reason <text>', 'kept beside it', 'rolled back by hand')
    .action(
      settling(settle, async ({ reason, ...options }: Reasoned) => {
        const { store } = await findTraining(options);
        return told(await rollback(store, reason));
      }),
    );
  train
    .command('pin')
    .description('keep the gate from changing what serves')
    .option('--off', 'let it again', false)
    .action(
      settling(settle, async ({ off, ...options }: TrainOptions & { readonly off: boolean }) => {
        const { store } = await findTraining(options);
        return told(await pin(store, !off, off ? 'unpinned by hand' : 'pinned by hand'));
      }),
    );
};

interface Reasoned extends TrainOptions {
  readonly reason: string;
}

async function promoteCheckpoint(checkpoint: string, { reason, ...options }: Reasoned): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  return told(await promote(store, readCheckpoint(checkpoint, trainRun), { reason, by: 'person' }));
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
