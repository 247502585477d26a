import { Option } from 'commander';
import { CONFIG, RUN, type AddCommands } from './add-command';
import { readAmount, readCount, readWhole } from './read-argument';

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
    .command('notes')
    .description('print notes on the workers, from how they answered the training questions')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: object) => {
      const { writeNotes } = await import('../train/write-notes.js');
      settle(await writeNotes(options));
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

  train
    .command('warm-start')
    .description('make a first checkpoint that imitates examples, for nights to begin with')
    .option('--examples <file>', 'JSON lines: {"question", "plan"} or {"prompt", "completion"}')
    .addOption(
      new Option('--from-traces [run]', 'imitate the plans of a training run that were right').conflicts(
        'examples',
      ),
    )
    .requiredOption('--steps <number>', 'of the optimizer', readCount)
    .requiredOption('--learning-rate <number>', 'e.g. 1e-5', readAmount)
    .option('--batch <number>', 'examples of a step', readCount, 32)
    .option('--warmup-steps <number>', 'over which the learning rate rises', readWhole, 0)
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: { steps: number; learningRate: number; batch: number; warmupSteps: number }) => {
      const { warmStart } = await import('../train/warm-start.js');
      settle(await warmStart(options));
    });
};
