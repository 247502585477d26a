import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { ConductorClient } from '../client/conductor-client';
import { durationMs } from '../config/duration';
import type { Config } from '../config/schema';
import { encryptionConverter } from '../encryption/codec';
import { configuredKeys } from '../encryption/key-ring';
import { configuredServer, type TemporalServer } from '../local/configured-server';
import { embeddedServer, isUpHere } from '../local/embedded-server';
import { databasePath } from '../local/own-database';
import { DEFAULT_TASK_QUEUE } from '../protocol/names';
import { isOurImage } from '../start-program';
import type { Store } from '../store/store';
import { UsageError } from '../errors';
import { checkTrust, type WorkOptions } from './load-settings';
import { configuredStore } from '../store/open-store';
import { queueOf, requireWorker } from './queues';
import type { RunningWorker, WorkerParts, WorkerSettings } from './start-worker';
import { say } from './terminal';
import { FOLDER, requireOwnRuns } from './trust';

export interface Session {
  readonly server: TemporalServer;
  readonly config: Config;
  readonly store: Store;
  readonly temporal: Client;
  readonly conductor: ConductorClient;
  readonly file: string | undefined;
  /** Null if the command leaves the work to other processes. */
  readonly worker: RunningWorker | null;
}

export interface SessionOptions
  extends Partial<Pick<WorkerSettings, 'graceMs' | 'log'>>, Pick<WorkerParts, 'servesCheckpoints'> {
  /**
   * No worker (`look`), one for any server (`work`), or one beside the embedded server alone: so that a run left behind
   * goes on and a cancellation is heard (`follow`), or without calls, which would be broken off, and paid for, when the
   * command ends (`steer`).
   */
  readonly role: 'look' | 'follow' | 'steer' | 'work';
  /** The command runs until it is stopped, so that others may rely on its server. */
  readonly stays?: boolean;
  /** The option that needs the server afterwards, e.g. `--detach`. */
  readonly outliving?: string;
  /** The command is about a run that the server must know. */
  readonly used?: boolean;
  /** Many requests are to come: Temporal's native part spends less on each, and takes longer to load. */
  readonly natively?: boolean;
  /** The server must be one that Temporal's environment configuration names. */
  readonly elsewhere?: boolean;
}

/** Does something with a server and its clients, and closes everything, the server included. */
export async function withSession<Result>(
  loaded: Config,
  options: WorkOptions,
  how: SessionOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { outliving, servesCheckpoints } = how;
  const file = options.config;
  const server = await attachServer(loaded, how);
  try {
    const config = fitToServer(server, loaded, file);
    const keys = configuredKeys(config);
    const store = configuredStore(config);
    const worker = await bringWorker(server, { config, servesCheckpoints, store, keys }, options, how);
    // Worker and client share a connection, so that a run can begin in the process that asked for it.
    const connection = worker?.connection ?? (await connect(server, how));
    const close = (): Promise<void> => worker?.stop() ?? connection.close();
    try {
      const dataConverter = keys && encryptionConverter(keys, config.encryption);
      const temporal = new Client({ connection, namespace: server.namespace, dataConverter });
      const { taskQueue } = config.temporal;
      const conductor = new ConductorClient({ client: temporal, store, taskQueue });
      const session = { server, config, store, temporal, conductor, worker, file };
      // Elsewhere workers may be on their way; of a folder's own there are no others.
      if (outliving !== undefined && server.embedded) await requireWorker(session, outliving);
      const result = await work(session);
      await close();
      return result;
    } catch (error) {
      // A worker that cannot be stopped any more is not the reason.
      await close().catch(() => undefined);
      throw error;
    }
  } finally {
    await server.stop();
  }
}

// Temporal's native part takes longest to load, and few commands need it.

async function connect(server: TemporalServer, { natively, log }: SessionOptions) {
  if (natively !== true) return Connection.connect(server.connection);
  const { connectNatively } = await import('./native-connection.js');
  return connectNatively(server, log);
}

async function bringWorker(
  server: TemporalServer,
  parts: WorkerParts,
  options: WorkOptions,
  { role, stays, graceMs = 0, log }: SessionOptions,
): Promise<RunningWorker | null> {
  if (stays === true) await requireOwnRuns(server, options.trust);
  if (role === 'look' || (role !== 'work' && !server.embedded)) return null;
  const makesCalls = role !== 'steer';
  if (makesCalls) {
    await checkTrust(parts.config, options);
    await requireOwnRuns(server, options.trust);
  }
  const { startWorker } = await import('./start-worker.js');
  return startWorker(server, parts, { graceMs, log, makesCalls });
}

/** The configured server, else the folder's own. @throws UsageError where none can do what the command needs */
async function attachServer(
  { temporal: { namespace } }: Config,
  { stays, outliving, used, elsewhere }: SessionOptions,
): Promise<TemporalServer> {
  const configured = await configuredServer(namespace);
  if (configured !== null) return configured;
  // Windows hands no lock on to the server's process.
  if (isOurImage() || process.platform === 'win32') {
    throw new UsageError('no Temporal server is named, and none can be started here: set TEMPORAL_ADDRESS');
  }
  const folder = resolve(FOLDER);
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
  return embeddedServer({ folder: FOLDER, namespace, say, stays });
}

/** With this beside the embedded server, a run goes on some 8 s after its worker was killed. */
const HEARTBEAT = '5s';

/** Beside the embedded server, a lost worker is noticed soon, and another file's pool gets a task queue of its own. */
export function fitToServer(
  { embedded }: Pick<TemporalServer, 'embedded'>,
  config: Config,
  named = process.env.CONDUCTOR_CONFIG,
): Config {
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
