import { describeConductor } from '../../config/notices';
import { EXIT, type ExitCode } from '../exit-code';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { type ServerDemands, type Session, withSession } from '../session';
import { loadServable } from '../settings';
import { say } from '../terminal';

interface FileOptions {
  readonly config?: string;
}

/** `up`: everything on one machine. Other commands of this folder share its server. */
export function up({ config }: FileOptions): Promise<ExitCode> {
  return serve(config, { stays: true });
}

/** `worker`: what a production deployment runs. */
export function worker({ config }: FileOptions): Promise<ExitCode> {
  return serve(config, { elsewhere: true });
}

/**
 * How long calls under way may go on, since they are paid for. Kubernetes kills after 30 s and Docker after 10 s unless
 * configured otherwise, and a call that is killed is lost.
 */
const DRAIN_MS = 25_000;

/** Works until Ctrl-C, then takes nothing new and lets calls under way finish. */
async function serve(file: string | undefined, demands: ServerDemands): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadServable(file);
  const setting = { file, role: 'work', graceMs: DRAIN_MS, log: say, ...demands } as const;
  return withSession(loaded, setting, async (session) => {
    say(describeService(session).join('\n'));
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
    `Workers     ${workers.map(({ id }) => id).join(', ')}`,
    `Store       ${store}`,
    'Ready. Press Ctrl-C to stop.',
  ];
}
