import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DefaultLogger,
  type LogEntry,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { conductorsOf } from '../../config/cards';
import { encryptionConverter } from '../../encryption/codec';
import type { KeyRing } from '../../encryption/key-ring';
import { reasonOf } from '../../errors';
import { remedyOfTls, type Say, type TemporalServer } from '../../local/configured-server';
import { describeProxy } from '../../network/proxy';
import { nativelyViaProxy, proxyOfTemporal } from '../../local/temporal-route';
import { PLAIN_FAILURES } from '../../protocol/names';
import { makeOwnFolder, OWN_FOLDER } from '../../runtime/own-folder';
import type { Store } from '../../store/store';
import type { TrainableConfig } from '../../training/config';
import { harmless, say } from './terminal';

export interface WorkerSettings {
  readonly graceMs: number;
  readonly makesCalls: boolean;
  /** Receives the SDK's warnings. Default: a file, since the terminal belongs to the live view. */
  readonly log?: Say;
}

export interface WorkerParts {
  readonly config: TrainableConfig;
  /** Whether runs may name a checkpoint that the configuration does not. */
  readonly servesCheckpoints?: boolean | undefined;
  readonly store: Store;
  readonly keys: KeyRing | undefined;
}

export interface RunningWorker {
  readonly connection: NativeConnection;
  readonly identity: string;
  readonly status: Worker['getStatus'];
  /** Resolves when it has stopped; rejects if it failed. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

const BREAK_OFF_MS = 5_000;

export async function startWorker(
  server: TemporalServer,
  parts: WorkerParts,
  { graceMs, makesCalls, log }: WorkerSettings,
): Promise<RunningWorker> {
  const { config, keys } = parts;
  const workflowBundle = await bundleFor(keys);
  const connection = await connectNatively(server, log);
  const plugin = await pluginFor(parts);
  const creation = Worker.create({
    connection,
    namespace: server.namespace,
    taskQueue: config.temporal.taskQueue,
    workflowBundle,
    dataConverter: keys && encryptionConverter(keys, config.encryption),
    plugins: [plugin],
    enableNonLocalActivities: makesCalls,
    shutdownGraceTime: graceMs,
    shutdownForceTime: graceMs + BREAK_OFF_MS,
    // After a worker was killed, its runs are stuck until the timeout of its sticky queue.
    ...(server.embedded && { stickyQueueScheduleToStartTimeout: '2s' }),
  });
  const worker = await creation.catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });
  const ended = worker.run();
  // Avoids an unhandled rejection if the worker fails before anyone awaits it.
  ended.catch(() => undefined);
  const stop = async (): Promise<void> => {
    if (worker.getState() !== 'RUNNING') return ended.finally(() => connection.close());
    worker.shutdown();
    // A worker that does not stop in time does not fail its command: another worker takes over its work. The
    // connection cannot be closed until the process ends.
    await ended.then(
      () => connection.close(),
      () => undefined,
    );
  };
  const { identity } = worker.options;
  return { connection, identity, status: () => worker.getStatus(), ended, stop };
}

/** Returns the plugin: training's, which loads more slowly, only where needed. */
async function pluginFor({ config, store, servesCheckpoints }: WorkerParts) {
  const isServed = conductorsOf(config).some(([, { provider }]) => provider === 'policy');
  if (servesCheckpoints || isServed || config.training !== undefined) {
    const { TrainingPlugin } = await import('../../training/plugin.js');
    return new TrainingPlugin({ config, store });
  }
  const { EvaluationPlugin } = await import('../../evaluation/plugin.js');
  return new EvaluationPlugin({ config, store });
}

const BUNDLE = join(__dirname, '..', '..', 'workflow-bundle.js');

/** Returns the bundle of all workflows. With keys, failures in it are encoded, so that the codec encrypts them. */
async function bundleFor(keys: KeyRing | undefined): Promise<WorkerOptions['workflowBundle']> {
  if (keys !== undefined) return { codePath: BUNDLE };
  return { code: `globalThis.${PLAIN_FAILURES} = true; ${await readFile(BUNDLE, 'utf8')}` };
}

/**
 * Connects through Temporal's native core, which workers need. It loads more slowly than a client's own connection, but
 * needs less CPU per call. @param log takes the SDK's warnings; default: a file, since the terminal has the live view
 */
export async function connectNatively(
  server: TemporalServer,
  log: Say = sayToFile,
): Promise<NativeConnection> {
  installRuntime(log);
  return NativeConnection.connect(nativelyViaProxy(server.connection)).catch((error: unknown) => {
    const reason = reasonOf(error);
    // The native core looks for certificates in other places than Node, so it may fail where a client succeeds.
    const remedy =
      remedyOfTls(reason) ?? 'Other commands reach it: see whether it has just gone away, and try again';
    const proxy = proxyOfTemporal(server.connection);
    const through = proxy === null ? '' : ` through ${describeProxy(proxy)}`;
    const what = `this process cannot connect to Temporal at ${server.address}${through}`;
    // The native core may add its stack.
    const [why = ''] = reason.split('\n');
    throw new Error(`${what}: ${why.trim()}. ${remedy}`, { cause: error });
  });
}

/** Must precede all other use of Temporal's native core. Signals are ours: a command must stop more than its worker. */
function installRuntime(log: Say): void {
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => {
      // At level INFO, logs only our workflows: one line for each run that ends.
      if (entry.level !== 'INFO' || entry.meta?.sdkComponent === 'workflow') log(describeEntry(entry));
    }),
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
    shutdownSignals: [],
  });
}

const LOG = join(OWN_FOLDER, 'worker.log');

let isLogLost = false;

/** A full disk loses lines of the log, and stops no run: the logger's caller could not handle an error. */
function sayToFile(line: string): void {
  try {
    makeOwnFolder(OWN_FOLDER);
    appendFileSync(LOG, `${harmless(line)}\n`, { mode: 0o600 });
  } catch (error) {
    if (!isLogLost) say(`${LOG} cannot be written (${reasonOf(error)}): what the worker reports is lost.`);
    isLogLost = true;
  }
}

const FACTS = ['workflowId', 'activityType', 'attempt', 'taskQueue'] as const;

function describeEntry({ level, message, timestampNanos, meta = {} }: LogEntry): string {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  const facts = FACTS.flatMap((fact) => (meta[fact] === undefined ? [] : [`${fact}=${String(meta[fact])}`]));
  const reason = meta.error instanceof Error ? `: ${meta.error.message}` : '';
  return [time, level, `${message}${reason}`, ...facts].join(' ');
}
