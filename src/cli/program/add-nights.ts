import { Option } from 'commander';
import { CONFIG, RUN, type AddCommands } from './add-command';
import { readCount, readDuration } from './read-argument';

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
      const { startNight } = await import('../train/start-night.js');
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
      const { scheduleTraining } = await import('../train/schedule-nights.js');
      settle(await scheduleTraining(options));
    });

  train
    .command('status')
    .description('follow the night under way, or see the latest, the next and what serves')
    .option(...RUN)
    .option('--json', 'print everything at once as JSON')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { trainStatus } = await import('../train/train-status.js');
      settle(await trainStatus(options));
    });

  train
    .command('list')
    .description('print the nights of all training runs, or of one')
    .option('--run <name>', 'this one alone')
    .option('--json', 'print all metrics as JSON')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { listNights } = await import('../train/list-nights.js');
      settle(await listNights(options));
    });
};
