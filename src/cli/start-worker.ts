import { join } from 'node:path';
import { type NativeConnection, Worker } from '@temporalio/worker';
import type { Config } from '../config/schema';
import { encryptionConverter } from '../encryption/codec';
import type { KeyRing } from '../encryption/key-ring';
import type { Say, TemporalServer } from '../local/configured-server';
import type { Store } from '../store/store';
import { type AddOn, addOns } from './add-ons';
import { connectNatively } from './native-connection';

export interface WorkerSettings {
  readonly graceMs: number;
  readonly makesCalls: boolean;
  /** Receives the SDK's warnings. Default: a file, since the terminal belongs to the live view. */
  readonly log?: Say;
}

export interface WorkerParts {
  readonly config: Config;
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
  { config, servesCheckpoints = false, store, keys }: WorkerParts,
  { graceMs, makesCalls, log }: WorkerSettings,
): Promise<RunningWorker> {
  const connection = await connectNatively(server, log);
  const { plugin, bundle } = await pluginFor({ config, store }, servesCheckpoints);
  const creation = Worker.create({
    connection,
    namespace: server.namespace,
    taskQueue: config.temporal.taskQueue,
    workflowBundle: {
      codePath: join(__dirname, '..', `${keys === undefined ? '' : 'encrypted-'}${bundle}-bundle.js`),
    },
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

/** Returns the plugin of the last add-on that the configuration needs. */
async function pluginFor(...given: Parameters<NonNullable<AddOn['pluginFor']>>) {
  for (const addOn of [...addOns].reverse()) {
    const found = await addOn.pluginFor?.(...given);
    if (found != null) return found;
  }
  throw new Error('no add-on has a plugin for a worker');
}
