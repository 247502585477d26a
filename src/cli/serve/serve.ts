import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { watchFile } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describeConductor } from '../../config/cards';
import { withoutPassword } from '../../config/store-url';
import { codeOf, reasonOf, UsageError } from '../../errors';
import { listen, type Listening } from '../../network/listen';
import { startProgram } from '../../runtime/start-program';
import { checkStore } from '../../store/open-store';
import type { TrainableConfig } from '../../training/config';
import {
  EXIT,
  type ExitCode,
  exitCodeFrom,
  listenForInterruption,
  unlessInterrupted,
  untilInterrupted,
} from '../kit/ending';
import { sayResumed } from '../kit/view/follow-run';
import { type Session, type SessionOptions, withSession } from '../kit/session';
import type { RunningWorker } from '../kit/start-worker';
import type { LogForm } from '../kit/log-form';
import { fileOf, loadServable, loadSettings, type WorkOptions } from '../kit/load-settings';
import { READY, STOP, superviseAll, type Supervised } from '../kit/supervise';
import { say } from '../kit/terminal';
import { describeVersion, type Versioning, workerVersion } from '../kit/worker-version';

/** Time for calls under way to finish, since they are paid for. Kubernetes kills after 30 s by default. */
export const DRAIN_MS = 25_000;

const WORK = { role: 'work', service: 'worker', graceMs: DRAIN_MS, log: say } as const;

/** Address of the gateway of `up`. */
export const GATEWAY_HOST = '127.0.0.1';

/** Options of all commands with a worker. */
export interface ServeOptions extends WorkOptions {
  /** Address that answers Prometheus with the worker's metrics, as `host:port`. */
  readonly metrics?: string;
  readonly versioning?: Versioning;
  readonly logFormat?: LogForm;
}

/** `up`: everything on one machine. Other commands of this folder share its server. */
export async function up({ port, ...options }: ServeOptions & { readonly port?: number }): Promise<ExitCode> {
  if (port !== undefined) await requireFree(port);
  return serveHere(options, 'up', ({ config }) => [
    { ...partProcess('gateway', 'up-gateway', config, { ...options, port }), stopsFirst: true },
  ]);
}

async function requireFree(port: number): Promise<void> {
  const tried = await listen(createServer(), port, GATEWAY_HOST).catch((cause: unknown) =>
    refuseTaken(port, cause),
  );
  await tried.close();
}

/** Explains why a port cannot be listened on. @throws UsageError if it is taken, or the cause itself */
export function refuseTaken(port: number, cause: unknown): never {
  if (codeOf(cause) !== 'EADDRINUSE') throw cause;
  throw new UsageError(`port ${port} is taken: choose another one with --port`, { cause });
}

/** Runs a server, a worker and the other parts of a command for this folder, until Ctrl-C. */
export async function serveHere(
  options: ServeOptions,
  command: string,
  partsOn: (session: Session) => readonly Supervised[],
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  interruption.addEventListener('abort', sayDraining);
  // Refused here, since a worker that ends is started again.
  const version = workerVersion(process.env, options.versioning);
  const loaded = await loadServable(options);
  await checkStore(loaded.store);
  return withSession(loaded, options, { role: 'look', stays: true }, async (session) => {
    await sayResumed(session);
    watchConfig(options, command);
    say(describeSession(session, version));
    const worker = partProcess('worker', 'up-worker', loaded, options);
    return superviseAll([worker, ...partsOn(session)], command, interruption);
  });
}

/** Polling interval of the file: editors replace files, and shared folders report no change. */
const POLL_MS = 500;

/** Reports each change of the configuration file, since the command continues with what it read. */
export function watchConfig(options: WorkOptions, command: string): void {
  const file = fileOf(options);
  watchFile(file, { interval: POLL_MS, persistent: false }, ({ mtimeMs }, before) => {
    if (mtimeMs !== before.mtimeMs)
      say(`${file} has changed: restart "${command}" to use it. Runs keep what they started with.`);
  });
}

/** Returns a part that runs in its own process group, so that Ctrl-C reaches only this process, which then decides. */
function partProcess(
  name: string,
  command: string,
  config: TrainableConfig,
  {
    config: file,
    metrics,
    versioning,
    logFormat,
    port: wanted,
  }: ServeOptions & { readonly port?: number | undefined },
): Supervised {
  const main = join(__dirname, '..', 'main.js');
  const named = Object.entries({
    '--config': file,
    '--metrics': metrics,
    '--versioning': versioning,
    '--log-format': logFormat,
  });
  const args = named.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  let port = wanted ?? null;
  const start = (sayReady: (line: string) => void): ChildProcess => {
    const child = startProgram(process.execPath, [...process.execArgv, main, command, ...args], {
      cwd: process.cwd(),
      passes: 'all',
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    // Sends the configuration, since its file may have changed. Errors are ignored: the exit of the child is handled.
    child.send({ config, port }, () => undefined);
    return child.once('message', (ready: Ready) => {
      port = ready.port;
      sayReady(ready.line);
    });
  };
  return { name, start };
}

/** Message of a part that is ready. After a crash, its replacement gets the same port, so that clients find it. */
interface Ready {
  readonly line: string;
  readonly port: number | null;
}

interface Part {
  /** Port of the process that it replaces, or that was asked for. */
  readonly port: number | null;
  readonly sayReady: (ready: Ready) => void;
  readonly stop: AbortSignal;
}

/** `up-worker`: the worker process of `up`. */
export function upWorker(options: ServeOptions): Promise<ExitCode> {
  const { metrics, versioning } = options;
  return asPart(options, { ...WORK, metrics, versioning }, async ({ worker, config }, { sayReady, stop }) => {
    const lines = [`Worker      task queue ${config.temporal.taskQueue}`, ...metricsLine(metrics)];
    sayReady({ line: lines.join('\n'), port: null });
    await unlessInterrupted(stop, worker?.ended ?? Promise.resolve());
  });
}

/** Runs a part in its own process, until the command that started it asks it to stop or is gone. */
export async function asPart(
  options: WorkOptions,
  how: SessionOptions,
  work: (session: Session, part: Part) => Promise<void>,
): Promise<ExitCode> {
  const parent = process.ppid;
  const stop = new AbortController();
  const leave = (): void => {
    stop.abort();
  };
  process.once('SIGTERM', leave);
  process.once('disconnect', () => void untilOrphaned(parent).then(leave));
  try {
    const [{ config, port }] = (await once(process, 'message')) as [
      Pick<Part, 'port'> & { config: TrainableConfig },
    ];
    return await withSession(config, options, how, async (session) => {
      await work(session, { port, sayReady: (ready) => process.send?.(ready), stop: stop.signal });
      return EXIT.answered;
    });
  } finally {
    // An open channel would keep this process alive.
    if (process.connected) process.disconnect();
  }
}

/** Waits until a killed parent is gone, since we must leave the server last: its channel closes a moment earlier. */
async function untilOrphaned(parent: number): Promise<void> {
  for (let waited = 0; process.ppid === parent && waited < 2_000; waited += 20) await pause(20);
}

/** `server`: runs Temporal alone for the user's programs; if a program is given, only until that ends. */
export async function server(command: readonly string[], options: WorkOptions): Promise<ExitCode> {
  const loaded = await loadSettings(options);
  return withSession(loaded, options, { role: 'look', stays: true }, async ({ server: temporal }) => {
    const { address, namespace, embedded } = temporal;
    // With a configured server, the program gets Temporal's environment configuration unchanged.
    const env = embedded ? { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace } : {};
    if (command.length > 0) return runCommand(command, env);
    const interruption = listenForInterruption();
    say(`Temporal is running. For your worker and clients: export TEMPORAL_ADDRESS=${address}\n${STOP}`);
    await untilInterrupted(interruption);
    return EXIT.answered;
  });
}

/** Runs a program to its end. @throws UsageError if there is no such program */
async function runCommand([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) {
  const shell = process.platform === 'win32';
  // A relative path is resolved against the current folder; a bare name is looked up only in PATH.
  const file = !shell && program.includes('/') ? resolve(program) : program;
  try {
    const child = startProgram(file, args, {
      cwd: process.cwd(),
      env: { ...process.env, ...env },
      passes: 'all',
      stdio: 'inherit',
      shell,
    });
    // A terminal sends Ctrl-C to the program too, which decides how to end.
    process.on('SIGINT', () => undefined);
    process.on('SIGTERM', () => child.kill('SIGTERM'));
    const [code] = (await once(child, 'exit')) as [number | null];
    return exitCodeFrom(code);
  } catch (error) {
    throw new UsageError(`${program} cannot be run (${reasonOf(error)}): check the command after "--"`);
  }
}

/** `worker`: runs a worker for a server elsewhere, as in a production deployment. */
export async function worker(options: ServeOptions & { readonly health?: number }): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { metrics, versioning } = options;
  const version = workerVersion(process.env, versioning);
  const loaded = await loadServable(options);
  await checkStore(loaded.store);
  return withSession(loaded, options, { ...WORK, metrics, versioning, elsewhere: true }, async (session) => {
    if (session.worker === null) throw new Error('the command "worker" has no worker');
    const health = options.health === undefined ? null : await serveHealth(options.health, session.worker);
    say(describeSession(session, version));
    if (health) say(`Health      ${health.url}`);
    for (const line of metricsLine(metrics)) say(line);
    say(READY);
    watchConfig(options, 'worker');
    await unlessInterrupted(interruption, session.worker.ended).finally(() => health?.close());
    sayDraining();
    return EXIT.answered;
  });
}

/** Answers 200 while the worker polls for work, else 503 with the reason. @throws UsageError if the port is taken */
export async function serveHealth(
  port: number,
  { status }: Pick<RunningWorker, 'status'>,
): Promise<Listening> {
  const server = createServer((_, response) => {
    const { runState, workflowPollerState: workflows, activityPollerState: activities } = status();
    const healthy = runState === 'RUNNING' && workflows === 'POLLING' && activities === 'POLLING';
    const polls = `polling for workflows: ${workflows}, for activities: ${activities}`;
    const problem = runState === 'RUNNING' ? polls : `the worker is ${runState.toLowerCase()}`;
    response.writeHead(healthy ? 200 : 503, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify({ healthy, state: healthy ? 'polling' : problem })}\n`);
  });
  return listen(server, port).catch((cause: unknown) => {
    throw new UsageError(`--health cannot use port ${port} (${reasonOf(cause)}): choose another`, { cause });
  });
}

function metricsLine(metrics: string | undefined): string[] {
  return metrics === undefined ? [] : [`Metrics     http://${metrics}/metrics`];
}

function sayDraining(): void {
  say(`Draining: calls under way have ${DRAIN_MS / 1000} s to finish.`);
}

function describeSession(
  { server, config: { conductor, workers, temporal, store } }: Session,
  version: ReturnType<typeof workerVersion>,
): string {
  return [
    `Temporal    ${server.address}, namespace ${server.namespace} (${server.source})`,
    ...(server.uiAddress === null ? [] : [`Temporal UI ${server.uiAddress}`]),
    `Task queue  ${temporal.taskQueue}`,
    ...(version === null ? [] : [`Version     ${describeVersion(version)}`]),
    `Conductor   ${describeConductor(conductor)}`,
    `Workers     ${workers.map(({ id }) => id).join(', ')}`,
    `Store       ${withoutPassword(store)}`,
  ].join('\n');
}
