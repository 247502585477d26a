import { CONFIG, type AddCommands } from './add-command';
import { readDays } from './read-argument';

/** Commands that look after what runs need. */
export const addCare: AddCommands = (program, settle) => {
  program
    .command('doctor')
    .description('check what is installed, reachable and allowed, and say how to mend what is not')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { doctor } = await import('../commands/doctor.js');
      settle(await doctor(options));
    });

  program
    .command('pool')
    .description('look after the pool')
    .command('check')
    .description('make one tiny call to the Conductor and to each worker')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { checkPool } = await import('../commands/check-pool.js');
      settle(await checkPool(options));
    });

  program
    .command('store')
    .description('look after the store')
    .command('gc')
    .description('remove texts and answers that are old and that no run on the server refers to')
    .requiredOption('--older-than <days>', 'what is younger stays, e.g. 30d', readDays)
    .option('--dry-run', 'say what would be removed, and remove nothing')
    .option(...CONFIG)
    .action(async (options: { olderThan: number }) => {
      const { storeGc } = await import('../commands/store-gc.js');
      settle(await storeGc(options));
    });
};
