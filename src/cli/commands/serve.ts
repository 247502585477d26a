import { describeConductor } from '../../config/notices';
import type { TrainableConfig as Config } from '../../training/config/schema';
import type { TemporalServer } from '../../local/configured-server';
import { type AddCommands, CONFIG, readOrigin, readPort } from '../arguments';
import { attachConfiguredServer, attachServer, fitToServer } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { openWorkerSession } from '../session';
import { loadServable } from '../settings';
import { say } from '../terminal';

/** Everything on one machine: the embedded server, which other commands of this folder then share, and a worker. */
export async function up(options: { readonly config?: string }): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadServable(options.config);
  const server = await attachServer(loaded, { stays: true });
  return servePool(server, fitToServer(server, loaded, options.config), interruption);
}

/** The process that a production deployment runs: a worker for a Temporal server somewhere else. */
export async function worker(options: { readonly config?: string }): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const config = await loadServable(options.config);
  return servePool(await attachConfiguredServer(config), config, interruption);
}

/**
 * What calls under way are given to finish, since they are paid for. Kubernetes kills after 30 s and Docker after 10 s
 * unless told otherwise, and a call that is killed is lost like one that is broken off.
 */
const DRAIN_MS = 25_000;

/** Works until Ctrl-C, then drains: takes nothing new, and lets calls under way finish. */
async function servePool(
  server: TemporalServer,
  config: Config,
  interruption: AbortSignal,
): Promise<ExitCode> {
  const session = await openWorkerSession(server, config, { graceMs: DRAIN_MS, log: say });
  try {
    for (const line of describeService(server, config)) say(line);
    await unlessInterrupted(interruption, session.worker.ended);
    say(`Draining: calls under way have ${DRAIN_MS / 1000} s to finish.`);
    return EXIT.answered;
  } finally {
    await session.close();
  }
}

function describeService(server: TemporalServer, config: Config): string[] {
  const { conductor, workers, temporal, store } = config;
  return [
    `Temporal    ${server.address}, namespace ${server.namespace} (${server.source})`,
    ...(server.uiAddress === null ? [] : [`Web page    ${server.uiAddress}`]),
    `Task queue  ${temporal.taskQueue}`,
    `Conductor   ${describeConductor(conductor)}`,
    `Workers     ${workers.map((worker) => worker.id).join(', ')}`,
    `Store       ${store}`,
    'Ready. Press Ctrl-C to stop.',
  ];
}

/** Commands that run until they are told to stop. */
export const addServices: AddCommands = (program, settle) => {
  program
    .command('up')
    .description('run a Temporal server and a worker on this machine, until Ctrl-C')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { up } = await import('./serve.js');
      settle(await up(options));
    });

  program
    .command('worker')
    .description('run a worker for the Temporal server that TEMPORAL_ADDRESS names, until Ctrl-C')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { worker } = await import('./serve.js');
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
      const { codecServer } = await import('./codec-server.js');
      settle(await codecServer(options));
    });
};
