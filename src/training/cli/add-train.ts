import { Option } from 'commander';
import {
  type AddCommands,
  CONFIG,
  readAmount,
  readCount,
  readDuration,
  readHours,
  readUsd,
  readWhole,
  RUN,
} from '../../cli/arguments';

/** `train`: commands that train a Conductor, and say which one serves. */
export const addTraining: AddCommands = (program, settle) => {
  const train = program.command('train').description('train a Conductor of your own');
  for (const add of [addNights, addNightOrders, addLearned, addServing]) add(train, settle);
};

/** Commands that have nights of training begin, and tell of them. */
export const addNights: AddCommands = (train, settle) => {
  train
    .command('start')
    .description('begin a night of training now, and leave it to the workers that are there')
    .option(...RUN)
    .option('--cycles <number>', 'how many, instead of as configured', readCount)
    .option('--from <checkpoint>', 'go on from this one, e.g. nightly/000040')
    .option('--date <date>', 'the night that it counts as (default: today)')
    .option('--timezone <name>', 'whose calendar it is, e.g. Europe/Berlin')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { startNight } = await import('./nights.js');
      settle(await startNight(options));
    });

  train
    .command('schedule')
    .description('have a night begin by itself, or see when the next ones do')
    .option(...RUN)
    .option('--at <time>', 'every day at this time, e.g. 03:30')
    .addOption(new Option('--cron <expression>', 'five fields, e.g. "30 3 * * 1-5"').conflicts('at'))
    .option('--timezone <name>', "of the time, and of the nights' dates, e.g. Europe/Berlin")
    .option('--cycles <number>', 'of each night, instead of as configured', readCount)
    .option('--jitter <duration>', 'begin up to this much later', readDuration, 60_000)
    .option(
      '--time-limit <duration>',
      'when the server ends a night (default: 2 h after its budget)',
      readDuration,
    )
    .addOption(new Option('--remove', 'have no more nights begin').conflicts(['at', 'cron']))
    .addOption(new Option('--pause', 'hold the schedule').conflicts(['at', 'cron', 'remove']))
    .addOption(
      new Option('--resume', 'let it go on, also after a failed night').conflicts([
        'at',
        'cron',
        'remove',
        'pause',
      ]),
    )
    .option(...CONFIG)
    .action(async (options: { jitter: number }) => {
      const { scheduleTraining } = await import('./nights.js');
      settle(await scheduleTraining(options));
    });

  train
    .command('status')
    .description('follow the night under way, or see the latest, the next and what serves')
    .option(...RUN)
    .option('--json', 'print everything at once as JSON')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { trainStatus } = await import('./status.js');
      settle(await trainStatus(options));
    });

  train
    .command('list')
    .description('print the nights of all training runs, or of one')
    .option('--run <name>', 'this one alone')
    .option('--json', 'print all metrics as JSON')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { listNights } = await import('./list.js');
      settle(await listNights(options));
    });
};

/** Commands to the night under way. */
export const addNightOrders: AddCommands = (train, settle) => {
  const orders = {
    pause: 'hold the night after its present cycle',
    resume: 'let the night go on',
  } as const;
  for (const order of ['pause', 'resume'] as const) {
    train
      .command(order)
      .description(orders[order])
      .option(...RUN)
      .option(...CONFIG)
      .action(async (options: object) => {
        const { steerNight } = await import('./steer.js');
        settle(await steerNight(order, options));
      });
  }

  train
    .command('stop')
    .description('end the night after its present cycle, and judge what it learned')
    .option('--now', 'end it at once, and judge nothing')
    .option(...RUN)
    .option(...CONFIG)
    .action(async ({ now, ...options }: { now?: boolean }) => {
      const { steerNight } = await import('./steer.js');
      settle(await steerNight(now === true ? 'cancel' : 'stop', options));
    });

  train
    .command('budget')
    .description('change what the rest of the night may use')
    .option(...RUN)
    .option('--max-cost <usd>', 'none: no limit', readUsd)
    .option('--hours <number>', 'from the start of the night', readHours)
    .option(...CONFIG)
    .action(async (options: object) => {
      const { budgetNight } = await import('./steer.js');
      settle(await budgetNight(options));
    });
};

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
      const { showCycle } = await import('./show.js');
      settle(await showCycle(cycle, options));
    });

  train
    .command('notes')
    .description('print notes on the workers, from how they answered the training questions')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: object) => {
      const { writeNotes } = await import('./notes.js');
      settle(await writeNotes(options));
    });

  train
    .command('plot')
    .description('draw a training run as SVG and PNG')
    .requiredOption('--out <folder>', 'for the pictures')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: { out: string }) => {
      const { plotRun } = await import('./plot/plot-run.js');
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
      const { exportCheckpoint } = await import('./serving.js');
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
      const { warmStart } = await import('./warm-start.js');
      settle(await warmStart(options));
    });
};

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
      const { promoteCheckpoint } = await import('./serving.js');
      settle(await promoteCheckpoint(checkpoint, options));
    });

  train
    .command('rollback')
    .description('have the checkpoint before it serve again')
    .option('--reason <text>', 'kept beside it')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: object) => {
      const { rollbackServing } = await import('./serving.js');
      settle(await rollbackServing(options));
    });

  train
    .command('pin')
    .description('keep the gate from changing what serves')
    .option('--off', 'let it again')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: object) => {
      const { pinServing } = await import('./serving.js');
      settle(await pinServing(options));
    });
};
