import { CONFIG, RUN, type AddCommands } from './add-command';

/** Commands about which checkpoint answers. */
export const addServing: AddCommands = (train, settle) => {
  train
    .command('promote')
    .description('have a checkpoint serve from the next solve on, whatever the gate says')
    .argument('<checkpoint>', 'number of its cycle, or its name, e.g. nightly/000040')
    .option(...RUN)
    .option('--reason <text>', 'kept beside it')
    .option(...CONFIG)
    .action(async (checkpoint: string, options: object) => {
      const { promoteCheckpoint } = await import('../train/change-serving.js');
      settle(await promoteCheckpoint(checkpoint, options));
    });

  train
    .command('rollback')
    .description('have the checkpoint before it serve again')
    .option('--reason <text>', 'kept beside it')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: object) => {
      const { rollbackServing } = await import('../train/change-serving.js');
      settle(await rollbackServing(options));
    });

  train
    .command('pin')
    .description('keep the gate from changing what serves')
    .option('--off', 'let it again')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: object) => {
      const { pinServing } = await import('../train/change-serving.js');
      settle(await pinServing(options));
    });
};
