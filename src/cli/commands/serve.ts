import { describeConductor } from '../../config/notices';
import { type AddCommands, CONFIG } from '../arguments';
import type { ServerDemands } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { type Session, withSession } from '../session';
import { loadServable } from '../settings';
import { say } from '../terminal';

/** `up` and `worker`: commands that work until they are stopped. */
export const addServices: AddCommands = (program, settle) => {
  // Everything on one machine: other commands of this folder share its server.
  program
    .command('up')
    .description('run a Temporal server and a worker on this machine, until Ctrl-C')
    .option(...CONFIG)
    .action(async ({ config: file }: { readonly config?: string }) => {
      settle(await serve(file, { stays: true }));
    });

  // What a production deployment runs.
  program
    .command('worker')
    .description('run a worker for the Temporal server that TEMPORAL_ADDRESS names, until Ctrl-C')
    .option(...CONFIG)
    .action(async ({ config: file }: { readonly config?: string }) => {
      settle(await serve(file, { elsewhere: true }));
    });
};

/**
 * What calls under way are given to finish, since they are paid for. Kubernetes kills after 30 s and Docker after 10 s
 * unless configured otherwise, and a call that is killed is lost like one that is broken off.
 */
const DRAIN_MS = 25_000;

/** Works until Ctrl-C, then drains: takes nothing new, and lets calls under way finish. */
async function serve(file: string | undefined, demands: ServerDemands): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadServable(file);
  const setting = { file, role: 'work', graceMs: DRAIN_MS, log: say, ...demands } as const;
  return withSession(loaded, setting, async (session) => {
    for (const line of describeService(session)) say(line);
    await unlessInterrupted(interruption, session.worker?.ended ?? Promise.resolve());
    say(`Draining: calls under way have ${DRAIN_MS / 1000} s to finish.`);
    return EXIT.answered;
  });
}

function describeService({ server, config }: Session): string[] {
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
