import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { conductorsOf } from '../../config/cards';
import { encryptionConverter } from '../../encryption/codec';
import type { KeyRing } from '../../encryption/key-ring';
import type { TemporalServer } from '../../local/configured-server';
import { PLAIN_FAILURES } from '../../protocol/names';
import type { Store } from '../../store/store';
import type { TrainableConfig } from '../../training/config';
import { type Versioning, workerVersion } from './worker-version';
import { connectNatively, type NativeSettings, placeInLog } from './native-core';

export interface WorkerSettings extends NativeSettings {
  readonly graceMs: number;
  readonly makesCalls: boolean;
  /** What becomes of the runs of a versioned worker. @default pinned */
  readonly versioning?: Versioning | undefined;
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
  { graceMs, makesCalls, versioning, ...native }: WorkerSettings,
): Promise<RunningWorker> {
  const version = workerVersion(process.env, versioning);
  const { config, keys } = parts;
  const workflowBundle = await bundleFor(keys);
  const connection = await connectNatively(server, native);
  const plugin = await pluginFor(parts);
  const creation = Worker.create({
    connection,
    namespace: server.namespace,
    taskQueue: config.temporal.taskQueue,
    workflowBundle,
    dataConverter: keys && encryptionConverter(keys, config.encryption),
    plugins: [plugin],
    interceptors: { activity: [placeInLog] },
    // The plugin's workers of further queues have it, too.
    workerDeploymentOptions: version ?? undefined,
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
