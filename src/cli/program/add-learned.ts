import { CONFIG, RUN, type AddCommands } from './add-command';
import { readCount } from './read-argument';

/** Commands that show what was learned, and take it in or out. */
export const addLearned: AddCommands = (train, settle) => {
  train
    .command('show')
    .description('print the groups of a cycle: plans, answers, verdicts and rewards')
    .argument('<cycle>', 'its number', readCount)
    .option(...RUN)
    .option('--json', 'print everything as JSON')
    .option(...CONFIG)
    .action(async (cycle: number, options: object) => {
      const { showCycle } = await import('../train/show-cycle.js');
      settle(await showCycle(cycle, options));
    });

  train
    .command('plot')
    .description('draw a training run as SVG and PNG')
    .requiredOption('--out <folder>', 'for the pictures')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: { out: string }) => {
      const { plotRun } = await import('../train/plot-run.js');
      settle(await plotRun(options));
    });

  train
    .command('export')
    .description('write a checkpoint as a Hugging Face model: whole, with tokenizer, chat template and card')
    .argument('<checkpoint>', 'number of its cycle, or its name, e.g. nightly/000040')
    .argument('<folder>', "on the trainer's machine; not there yet, or empty")
    .option(...RUN)
    .option(...CONFIG)
    .action(async (checkpoint: string, folder: string, options: object) => {
      const { exportCheckpoint } = await import('../train/export-checkpoint.js');
      settle(await exportCheckpoint(checkpoint, folder, options));
    });
};
