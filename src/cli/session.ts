import { Client, Connection } from '@temporalio/client';
import { ConductorClient } from '../client/conductor-client';
import { isNotFound } from '../client/steer';
import { encryptionConverter } from '../encryption/codec';
import { configuredKeys } from '../encryption/keys';
import type { TemporalServer } from '../local/configured-server';
import { openStore } from '../store/open-store';
import type { Store } from '../store/store';
import type { TrainableConfig } from '../training/config/schema';
import { attachServer, fitToServer, type ServerDemands } from './attach';
import { UsageError } from './exit-code';
import { loadSettings } from './settings';
import type { RunningWorker, WorkerManner } from './start-worker';

/** What a command works with while it runs. */
export interface Session {
  readonly server: TemporalServer;
  /** The configuration as it holds on that server. */
  readonly config: TrainableConfig;
  readonly store: Store;
  readonly temporal: Client;
  readonly conductor: ConductorClient;
  /** null where the command leaves the work to other processes. */
  readonly worker: RunningWorker | null;
}

export interface SessionOptions extends ServerDemands, Partial<Pick<WorkerManner, 'graceMs' | 'log'>> {
  readonly file: string | undefined;
  /**
   * - `look`: no worker.
   * - `follow`: a worker beside the embedded server, so that a run left behind goes on and a cancellation is heard.
   * - `steer`: the same, but the worker makes no call: it would be broken off, and paid for, when the command ends.
   * - `work`: a worker for any server.
   */
  readonly role: 'look' | 'follow' | 'steer' | 'work';
}

/** Does something with a server and its clients, and closes everything, the server included. */
export async function withSession<Result>(
  loaded: TrainableConfig,
  { file, role, graceMs = 0, log, ...demands }: SessionOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const server = await attachServer(loaded, demands);
  try {
    const config = fitToServer(server, loaded, file);
    const keys = configuredKeys(config);
    const store = openStore(config.store, process.cwd(), { keys });
    let worker: RunningWorker | null = null;
    if (role === 'work' || (role !== 'look' && server.embedded)) {
      // Temporal's native part takes longest to load, and few commands need it.
      const { startWorker } = await import('./start-worker.js');
      const manner = { graceMs, log, makesCalls: role !== 'steer' };
      worker = await startWorker(server, { config, store, keys }, manner);
    }
    // Worker and client share a connection, so that a run can begin in the process that asked for it.
    const connection = worker?.connection ?? (await Connection.connect(server.connection));
    try {
      const dataConverter = keys && encryptionConverter(keys);
      const temporal = new Client({ connection, namespace: server.namespace, dataConverter });
      const { taskQueue } = config.temporal;
      const conductor = new ConductorClient({ client: temporal, store, taskQueue });
      return await work({ server, config, store, temporal, conductor, worker });
    } finally {
      await (worker?.stop() ?? connection.close());
    }
  } finally {
    await server.stop();
  }
}

/** The same for a run that was started before. @throws UsageError for one that the server does not know */
export async function withRun<Result>(
  id: string,
  { config: file }: { readonly config?: string },
  role: SessionOptions['role'],
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return withSession(await loadSettings(file), { file, role, used: true }, async (session) =>
    work(session).catch((error: unknown) => {
      throw explainUnknown(error, id, session);
    }),
  );
}

/** Puts the server's "not found" into a sentence of ours; any other error stays what it is. */
export function explainUnknown(error: unknown, id: string, { server }: Session): unknown {
  if (!isNotFound(error)) return error;
  return new UsageError(
    `there is no run ${JSON.stringify(id)} in namespace ${server.namespace} at ${server.address}: ` +
      'check the id, the folder you are in, and TEMPORAL_ADDRESS',
  );
}
