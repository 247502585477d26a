import { type AddCommands, CONFIG, RUN } from '../../cli/arguments';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { say } from '../../cli/terminal';
import { pin, promote, rollback } from '../policy/serving';
import { findTraining, type TrainOptions } from './session';
import { type CheckpointRef, readCheckpointId } from '../checkpoint-ref';

/** `train promote`, `rollback` and `pin`: which checkpoint answers, from the next solve on. They need no server. */
export const addServing: AddCommands = (train, settle) => {
  train
    .command('promote')
    .description('have a checkpoint serve from the next solve on, whatever the gate says')
    .argument('<checkpoint>', 'number of its cycle, or its name, e.g. nightly/000040')
    .option(...RUN)
    .option('--reason <text>', 'kept beside it')
    .option(...CONFIG)
    .action(async (checkpoint: string, options: PromoteOptions) => {
      settle(await promoteCheckpoint(checkpoint, options));
    });
  train
    .command('rollback')
    .description('have the checkpoint before it serve again')
    .option('--reason <text>', 'kept beside it')
    .option(...RUN)
    .option(...CONFIG)
    .action(async ({ reason = 'rolled back by hand', ...options }: PromoteOptions) => {
      const { store } = await findTraining(options);
      const { sentence } = await rollback(store, reason);
      say(`${sentence}.`);
      settle(EXIT.answered);
    });
  train
    .command('pin')
    .description('keep the gate from changing what serves')
    .option('--off', 'let it again')
    .option(...RUN)
    .option(...CONFIG)
    .action(async ({ off = false, ...options }: TrainOptions & { readonly off?: boolean }) => {
      const { store } = await findTraining(options);
      const { sentence } = await pin(store, !off, off ? 'unpinned by hand' : 'pinned by hand');
      say(`${sentence}.`);
      settle(EXIT.answered);
    });
};

interface PromoteOptions extends TrainOptions {
  readonly reason?: string;
}

/** Has a checkpoint serve. That it serves already is no failure: it is what was asked for. */
export async function promoteCheckpoint(
  checkpoint: string,
  { reason = 'promoted by hand', ...options }: PromoteOptions,
): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const ref = readCheckpoint(checkpoint, trainRun);
  const { sentence } = await promote(store, ref, { reason, by: 'person' });
  say(`${sentence}.`);
  return EXIT.answered;
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
