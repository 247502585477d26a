import { CONFIG, RUN, type AddCommands } from './add-command';
import { readHours, readUsd } from './read-argument';

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
        const { steerNight } = await import('../train/steer-night.js');
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
      const { steerNight } = await import('../train/steer-night.js');
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
      const { budgetNight } = await import('../train/steer-night.js');
      settle(await budgetNight(options));
    });
};
