import type { TemporalServer } from '../local/temporal-server';
import type { Config } from '../pool/config-schema';
import { describeConductor } from '../pool/describe-conductor';
import { EXIT, type ExitCode } from './exit-code';
import { unlessInterrupted } from './interruption';
import { openWorkerSession } from './open-worker-session';
import { say } from './terminal';

/**
 * What calls under way are given to finish, since they are paid for. Kubernetes kills after 30 s and Docker after 10 s
 * unless told otherwise, and a call that is killed is lost like one that is broken off.
 */
const DRAIN_MS = 25_000;

/** Works until Ctrl-C, then drains: takes nothing new, and lets calls under way finish. */
export async function servePool(
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
