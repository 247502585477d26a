import { describeConductor } from '../../config/notices';
import { EXIT, type ExitCode } from '../exit-code';
import { sayResumed } from '../follow-run';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { type Session, withSession } from '../session';
import { loadServable, loadSettings, type WorkOptions } from '../settings';
import { superviseWorker } from '../supervise';
import { say } from '../terminal';

/**
 * How long calls under way may go on, since they are paid for. Kubernetes kills after 30 s and Docker after 10 s unless
 * configured otherwise, and a call that is killed is lost.
 */
const DRAIN_MS = 25_000;

const WORK = { role: 'work', graceMs: DRAIN_MS, log: say } as const;

/** `up`: everything on one machine. Other commands of this folder share its server. */
export async function up(options: WorkOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  interruption.addEventListener('abort', sayDraining);
  const { config: file } = options;
  const loaded = await loadServable(options);
  return withSession(loaded, { file, role: 'look', stays: true }, async (session) => {
    await sayResumed(session, file);
    return superviseWorker(file, interruption, () => {
      sayReady(session);
    });
  });
}

/** `up-worker`: the process that works for `up`, until that asks it to stop or is gone. */
export async function upWorker({ config: file }: WorkOptions): Promise<ExitCode> {
  const stop = new AbortController();
  for (const event of ['SIGTERM', 'disconnect']) {
    process.once(event, () => {
      stop.abort();
    });
  }
  try {
    return await withSession(await loadSettings(file), { file, ...WORK }, async ({ worker }) => {
      process.send?.('ready');
      await unlessInterrupted(stop.signal, worker?.ended ?? Promise.resolve());
      return EXIT.answered;
    });
  } finally {
    // An open channel would keep this process.
    if (process.connected) process.disconnect();
  }
}

/** `worker`: what a production deployment runs, beside a server elsewhere. */
export async function worker(options: WorkOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadServable(options);
  return withSession(loaded, { file: options.config, elsewhere: true, ...WORK }, async (session) => {
    sayReady(session);
    await unlessInterrupted(interruption, session.worker?.ended ?? Promise.resolve());
    sayDraining();
    return EXIT.answered;
  });
}

function sayDraining(): void {
  say(`Draining: calls under way have ${DRAIN_MS / 1000} s to finish.`);
}

function sayReady({ server, config }: Session): void {
  const { conductor, workers, temporal, store } = config;
  const lines = [
    `Temporal    ${server.address}, namespace ${server.namespace} (${server.source})`,
    ...(server.uiAddress === null ? [] : [`Web page    ${server.uiAddress}`]),
    `Task queue  ${temporal.taskQueue}`,
    `Conductor   ${describeConductor(conductor)}`,
    `Workers     ${workers.map(({ id }) => id).join(', ')}`,
    `Store       ${store}`,
    'Ready. Press Ctrl-C to stop.',
  ];
  say(lines.join('\n'));
}
