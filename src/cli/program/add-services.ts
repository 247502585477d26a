import { CONFIG, type AddCommands } from './add-command';
import { readOrigin, readPort } from './read-argument';

/** Commands that run until they are told to stop. */
export const addServices: AddCommands = (program, settle) => {
  program
    .command('up')
    .description('run a Temporal server and a worker on this machine, until Ctrl-C')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { up } = await import('../commands/up.js');
      settle(await up(options));
    });

  program
    .command('worker')
    .description('run a worker for the Temporal server that TEMPORAL_ADDRESS names, until Ctrl-C')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { worker } = await import('../commands/worker.js');
      settle(await worker(options));
    });

  program
    .command('codec-server')
    .description("let Temporal's page and command line show what is encrypted, until Ctrl-C")
    .requiredOption('--origin <url...>', 'of the pages that may ask, e.g. http://127.0.0.1:8233', readOrigin)
    .option('--port <number>', 'where to listen', readPort, 8081)
    .option(
      '--host <address>',
      'other machines get in only with a token in CONDUCTOR_CODEC_TOKEN',
      '127.0.0.1',
    )
    .option(...CONFIG)
    .action(async (options: { origin: string[]; port: number; host: string }) => {
      const { codecServer } = await import('../commands/codec-server.js');
      settle(await codecServer(options));
    });
};
