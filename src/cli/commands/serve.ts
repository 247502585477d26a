import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describeConductor } from '../../config/notices';
import type { Config } from '../../config/schema';
import { reasonOf } from '../../reason-of';
import { startProgram } from '../../start-program';
import { checkStore } from '../../store/open-store';
import { EXIT, type ExitCode, exitCodeFrom, UsageError } from '../exit-code';
import { sayResumed } from '../follow-run';
import { serveHealth } from '../health';
import { listenForInterruption, unlessInterrupted, untilInterrupted } from '../interruption';
import { type Session, withSession } from '../session';
import { requireOwnRuns } from '../own-runs';
import { loadServable, loadSettings, type WorkOptions } from '../load-settings';
import { supervise, type Supervised } from '../supervise';
import { say } from '../terminal';
import { watchConfig } from '../config-versions';

/**
 * How long calls under way may go on, since they are paid for. Kubernetes kills after 30 s and Docker after 10 s unless
 * configured otherwise, and a call that is killed is lost.
 */
export const DRAIN_MS = 25_000;

const WORK = { role: 'work', graceMs: DRAIN_MS, log: say } as const;

/** `up`: everything on one machine. Other commands of this folder share its server. */
export function up(options: WorkOptions): Promise<ExitCode> {
  return serveHere(options, () => []);
}

/** A part that is kept running; it says once how it works, and ends when it is told to stop, or for good. */
export type Part = (stop: AbortSignal, sayReady: (line: string) => void) => Promise<ExitCode>;

/**
 * Keeps a server and a worker for this folder, and what else belongs beside them, until Ctrl-C. Where one part ends for
 * good, the others are stopped.
 */
export async function serveHere(
  options: WorkOptions,
  partsOn: (session: Session) => readonly Part[],
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  interruption.addEventListener('abort', sayDraining);
  const { config: file } = options;
  const loaded = await loadServable(options);
  await checkStore(loaded.store);
  return withSession(loaded, { file, role: 'look', stays: true }, async (session) => {
    await requireOwnRuns(session.server, options.trust);
    await sayResumed(session, file);
    const worker: Part = (stop, sayReady) =>
      supervise(workerProcess(loaded, file), 'up', stop, () => {
        sayReady(describeSession(session));
      });
    const unwatch = watchConfig(loaded, options, 'up');
    try {
      return await keepAll([worker, ...partsOn(session)], interruption);
    } finally {
      unwatch();
    }
  });
}

async function keepAll(parts: readonly Part[], interruption: AbortSignal): Promise<ExitCode> {
  const ended = new AbortController();
  const stop = AbortSignal.any([interruption, ended.signal]);
  let waiting = parts.length;
  const sayReady = (line: string): void => {
    waiting -= 1;
    say(waiting === 0 ? `${line}\n${READY}` : line);
  };
  const all = parts.map((part) =>
    part(stop, sayReady).finally(() => {
      ended.abort();
    }),
  );
  // Each is stopped before the first that failed is told.
  await Promise.allSettled(all);
  const codes = await Promise.all(all);
  return codes.find((code) => code !== EXIT.answered) ?? EXIT.answered;
}

/** In a process group of its own, so that Ctrl-C in a terminal reaches only this process, which then decides. */
function workerProcess(config: Config, file: string | undefined): Supervised {
  const args = ['up-worker', ...(file === undefined ? [] : ['--config', file])];
  const start = (sayReady: () => void): ChildProcess => {
    const main = join(__dirname, '..', 'main.js');
    const child = startProgram(process.execPath, [...process.execArgv, main, ...args], {
      // It works for this folder, and asks models.
      cwd: process.cwd(),
      passes: 'all',
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    // Not read from the file again, which may have changed meanwhile. One that dies before it listens has an end of its own.
    child.send(config, () => undefined);
    return child.once('message', sayReady);
  };
  return { name: 'worker', start };
}

/** `up-worker`: the process that works for `up`, until that asks it to stop or is gone. */
export async function upWorker({ config: file }: WorkOptions): Promise<ExitCode> {
  const parent = process.ppid;
  const stop = new AbortController();
  const leave = (): void => {
    stop.abort();
  };
  process.once('SIGTERM', leave);
  process.once('disconnect', () => void untilOrphaned(parent).then(leave));
  try {
    const [config] = (await once(process, 'message')) as [Config];
    return await withSession(config, { file, ...WORK }, async ({ worker }) => {
      process.send?.('ready');
      await unlessInterrupted(stop.signal, worker?.ended ?? Promise.resolve());
      return EXIT.answered;
    });
  } finally {
    // An open channel would keep this process.
    if (process.connected) process.disconnect();
  }
}

/**
 * The channel of a process that is killed closes a moment before the process is gone. Until then it counts as a user of
 * the server, which its worker, the last to leave, would not stop.
 */
async function untilOrphaned(parent: number): Promise<void> {
  for (let waited = 0; process.ppid === parent && waited < 2_000; waited += 20) await pause(20);
}

/** `server`: Temporal alone, for programs of the user's; where one is given, for as long as that runs. */
export async function server(command: readonly string[], options: WorkOptions): Promise<ExitCode> {
  const { config: file } = options;
  const loaded = await loadSettings(options);
  return withSession(
    loaded,
    { file, role: 'look', stays: true },
    async ({ server: { address, ...temporal } }) => {
      await requireOwnRuns({ address, ...temporal }, options.trust);
      const env = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: temporal.namespace };
      // Runs the program with Temporal's own environment configuration unchanged.
      if (command.length > 0) return runCommand(command, temporal.embedded ? env : {});
      const interruption = listenForInterruption();
      say(
        `Temporal runs. For your worker and clients: export TEMPORAL_ADDRESS=${address}\nPress Ctrl-C to stop.`,
      );
      await untilInterrupted(interruption);
      return EXIT.answered;
    },
  );
}

/** Runs a program to its end. @throws UsageError where there is no such program */
async function runCommand(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ExitCode> {
  const shell = process.platform === 'win32';
  // A path of the current folder is meant as it was written; a bare name is looked up in PATH alone.
  const file = !shell && program.includes('/') ? resolve(program) : program;
  try {
    const child = startProgram(file, args, {
      cwd: process.cwd(),
      env: { ...process.env, ...env },
      passes: 'all',
      stdio: 'inherit',
      shell,
    });
    // A terminal sends Ctrl-C to the program as well, which then ends in its own way.
    process.on('SIGINT', () => undefined);
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    const [code] = (await once(child, 'exit')) as [number | null];
    return exitCodeFrom(code);
  } catch (error) {
    throw new UsageError(`${program} cannot be run (${reasonOf(error)}): check the command after "--"`);
  }
}

interface WorkerOptions extends WorkOptions {
  /** Where it tells over HTTP whether it works; undefined for nowhere. */
  readonly health?: number;
}

/** `worker`: what a production deployment runs, beside a server elsewhere. */
export async function worker(options: WorkerOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const loaded = await loadServable(options);
  await checkStore(loaded.store);
  const unwatch = watchConfig(loaded, options, 'worker');
  try {
    return await withSession(loaded, { file: options.config, elsewhere: true, ...WORK }, async (session) => {
      const health = options.health === undefined ? null : await serveHealth(options.health, session);
      const lines = [describeSession(session), ...(health ? [`Health      ${health.url}`] : []), READY];
      say(lines.join('\n'));
      try {
        await unlessInterrupted(interruption, session.worker?.ended ?? Promise.resolve());
      } finally {
        health?.close();
      }
      sayDraining();
      return EXIT.answered;
    });
  } finally {
    unwatch();
  }
}

function sayDraining(): void {
  say(`Draining: calls under way have ${DRAIN_MS / 1000} s to finish.`);
}

const READY = 'Ready. Press Ctrl-C to stop.';

function describeSession({ server, config }: Session): string {
  const { conductor, workers, temporal, store } = config;
  const lines = [
    `Temporal    ${server.address}, namespace ${server.namespace} (${server.source})`,
    ...(server.uiAddress === null ? [] : [`Web page    ${server.uiAddress}`]),
    `Task queue  ${temporal.taskQueue}`,
    `Conductor   ${describeConductor(conductor)}`,
    `Workers     ${workers.map(({ id }) => id).join(', ')}`,
    `Store       ${store}`,
  ];
  return lines.join('\n');
}
