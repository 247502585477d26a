import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { OWN_FOLDER } from '../../runtime/own-folder';
import { addAttributes, ConductorClient } from '../../client';
import { durationMs } from '../../config/duration';
import { encryptionConverter } from '../../encryption/codec';
import { configuredKeys } from '../../encryption/key-ring';
import { configuredServer, type TemporalServer } from '../../local/configured-server';
import { embeddedServer, isUpHere } from '../../local/embedded-server';
import { databasePath } from '../../local/own-database';
import { viaProxy } from '../../local/temporal-route';
import { DEFAULT_TASK_QUEUE } from '../../protocol/names';
import { criteriaIn } from '../../protocol/search-attributes';
import { isOurImage } from '../../runtime/start-program';
import type { Store } from '../../store/store';
import type { TrainableConfig } from '../../training/config';
import { UsageError } from '../../errors';
import { checkTrust, type WorkOptions } from './load-settings';
import { configuredStore } from '../../store/open-store';
import { exportSpans } from './export-spans';
import { queueOf, requireWorker } from './queues';
import type { RunningWorker, WorkerParts, WorkerSettings } from './start-worker';
import { say } from './terminal';
import { requireOwnRuns } from './trust';

export interface Session {
  readonly server: TemporalServer;
  readonly config: TrainableConfig;
  readonly store: Store;
  readonly temporal: Client;
  readonly conductor: ConductorClient;
  readonly file: string | undefined;
  /** Null if the command leaves the work to other processes. */
  readonly worker: RunningWorker | null;
}

export interface SessionOptions
  extends
    Partial<Pick<WorkerSettings, 'graceMs' | 'log' | 'metrics' | 'versioning'>>,
    Pick<WorkerParts, 'servesCheckpoints'> {
  /**
   * `look`: no worker. `work`: a worker for any server. `follow`: a worker for the embedded server only, so that a run
   * left behind continues and a cancellation is heard. `steer`: as `follow`, but without calls, which would be cut off,
   * and paid for, when the command ends.
   */
  readonly role: 'look' | 'follow' | 'steer' | 'work';
  /** Whether the command runs until it is stopped, so that others may rely on its server. */
  readonly stays?: boolean;
  /** Option that needs the server after the command ends, e.g. `--detach`. */
  readonly outliving?: string;
  /** Whether the command needs an earlier run, and so an existing database of the folder. */
  readonly used?: boolean;
  /** Uses Temporal's native core, which loads more slowly but needs less CPU per request. */
  readonly natively?: boolean;
  /** What this process is called where its spans go; absent: it sends none. */
  readonly service?: 'worker' | 'gateway';
  /** Whether the server must be one that Temporal's environment configuration names. */
  readonly elsewhere?: boolean;
}

/** Runs `work` with a server and its clients, then closes the clients and leaves the server. */
export async function withSession<Result>(
  loaded: TrainableConfig,
  options: WorkOptions,
  how: SessionOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { outliving, servesCheckpoints, service } = how;
  const file = options.config;
  const server = await attachServer(loaded, how);
  const sendLastSpans = service === undefined ? null : await exportSpans(service);
  try {
    const config = fitToServer(server, loaded, file);
    const keys = configuredKeys(config);
    const store = configuredStore(config);
    const worker = await bringWorker(server, { config, servesCheckpoints, store, keys }, options, how);
    // The client reuses the worker's connection.
    const connection = worker?.connection ?? (await connect(server, how));
    const close = (): Promise<void> => worker?.stop() ?? connection.close();
    try {
      const dataConverter = keys && encryptionConverter(keys, config.encryption);
      const temporal = new Client({ connection, namespace: server.namespace, dataConverter });
      const { taskQueue } = config.temporal;
      const { searchAttributes } = config.temporal;
      // The folder's own server has what its configuration wants; elsewhere, that is up to whoever runs it.
      if (server.embedded) await addAttributes(temporal, criteriaIn(searchAttributes));
      const conductor = new ConductorClient({ client: temporal, store, taskQueue, searchAttributes });
      const session = { server, config, store, temporal, conductor, worker, file };
      // On a configured server, a worker may still be starting; the embedded one has only the workers of this folder.
      if (outliving !== undefined && server.embedded) await requireWorker(session, outliving);
      const result = await work(session);
      await close();
      return result;
    } catch (error) {
      // A failure to close must not hide the original error.
      await close().catch(() => undefined);
      throw error;
    }
  } finally {
    await sendLastSpans?.();
    await server.stop();
  }
}

// Temporal's native core is the slowest module to load, and few commands need it.

async function connect(server: TemporalServer, { natively, ...how }: SessionOptions) {
  if (natively !== true) return Connection.connect(viaProxy(server.connection));
  const { connectNatively } = await import('./native-core.js');
  return connectNatively(server, how);
}

async function bringWorker(
  server: TemporalServer,
  parts: WorkerParts,
  options: WorkOptions,
  { role, stays, graceMs = 0, log, metrics, versioning }: SessionOptions,
): Promise<RunningWorker | null> {
  if (stays === true) await requireOwnRuns(server, options.trust);
  if (role === 'look' || (role !== 'work' && !server.embedded)) return null;
  const makesCalls = role !== 'steer';
  if (makesCalls) {
    await checkTrust(parts.config, options);
    await requireOwnRuns(server, options.trust);
  }
  const { startWorker } = await import('./start-worker.js');
  return startWorker(server, parts, { graceMs, log, metrics, versioning, makesCalls });
}

/** Attaches to the configured server, else the folder's own. @throws UsageError if neither can do what is needed */
async function attachServer(
  { temporal: { namespace } }: TrainableConfig,
  { stays, outliving, used, elsewhere }: SessionOptions,
): Promise<TemporalServer> {
  const configured = await configuredServer(namespace);
  if (configured !== null) return configured;
  // On Windows, the server's process cannot inherit a lock.
  if (isOurImage() || process.platform === 'win32') {
    throw new UsageError('no Temporal server is named, and none can be started here: set TEMPORAL_ADDRESS');
  }
  const folder = resolve(OWN_FOLDER);
  if (elsewhere === true) {
    const remedy =
      'set TEMPORAL_ADDRESS to one that runs, or use "temporal-conductor up" for one of this folder';
    throw new UsageError(`there is no Temporal server to work for: ${remedy}`);
  }
  if (used === true && !existsSync(databasePath(folder))) {
    const remedy = 'go to the folder where it was, or set TEMPORAL_ADDRESS';
    throw new UsageError(`no run was ever started in this folder: ${remedy}`);
  }
  if (outliving !== undefined && !(await isUpHere(folder, say))) {
    const remedy =
      'start "temporal-conductor up" in this folder, or set TEMPORAL_ADDRESS to a server that runs';
    throw new UsageError(`${outliving} needs a Temporal server that goes on after this command: ${remedy}`);
  }
  return embeddedServer({ folder: OWN_FOLDER, namespace, say, stays });
}

/** Heartbeat timeout on the embedded server: a run continues about 8 s after its worker was killed. */
const HEARTBEAT = '5s';

/** Caps the heartbeat timeout on the embedded server, and gives another file's pool its own task queue. */
export function fitToServer(
  { embedded }: Pick<TemporalServer, 'embedded'>,
  config: TrainableConfig,
  named = process.env.CONDUCTOR_CONFIG,
): TrainableConfig {
  if (!embedded) return config;
  const { taskQueue, heartbeat } = config.temporal;
  const isFoldersOwn = named === undefined || resolve(named) === resolve('conductor.yaml');
  const isChosen = taskQueue !== DEFAULT_TASK_QUEUE;
  const temporal = {
    ...config.temporal,
    taskQueue: isFoldersOwn || isChosen ? taskQueue : queueOf(named),
    heartbeat: durationMs(heartbeat) > durationMs(HEARTBEAT) ? HEARTBEAT : heartbeat,
  };
  return { ...config, temporal };
}
