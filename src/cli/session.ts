import { Client, Connection } from '@temporalio/client';
import { ConductorClient } from '../client/conductor-client';
import type { TrainableConfig } from '../training/config/schema';
import { encryptionConverter } from '../encryption/codec';
import { configuredKeys } from '../encryption/keys';
import type { TemporalServer } from '../local/configured-server';
import { openStore } from '../store/open-store';
import type { Store } from '../store/store';
import { attachServer, fitToServer, type ServerDemands } from './attach';
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

/** What a command is about to do, and what it needs for that. */
export interface SessionOptions extends ServerDemands, Partial<Pick<WorkerManner, 'graceMs' | 'log'>> {
  /** The file that `--config` names, if any. */
  readonly file: string | undefined;
  /**
   * - `look`: it brings no worker.
   * - `follow`: beside the embedded server it brings one, so that a run left behind goes on and a cancellation is heard.
   * - `steer`: the same, but the worker makes no call: one made now would be broken off, and paid for, when the command
   *   ends.
   * - `work`: it brings a worker to any server.
   */
  readonly role: 'look' | 'follow' | 'steer' | 'work';
}

/** Does something with a server and its clients, and gives everything back, the server included. */
export async function withSession<Result>(
  loaded: TrainableConfig,
  options: SessionOptions,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const cleanup = new Cleanup();
  try {
    return await work(await openSession(loaded, options, cleanup));
  } finally {
    await cleanup.run();
  }
}

async function openSession(
  loaded: TrainableConfig,
  { file, role, graceMs = 0, log, ...demands }: SessionOptions,
  cleanup: Cleanup,
): Promise<Session> {
  const server = await attachServer(loaded, demands);
  cleanup.add(() => server.stop());
  const config = fitToServer(server, loaded, file);
  const keys = configuredKeys(config);
  const store = openStore(config.store, process.cwd(), { keys });
  const { namespace } = server;

  let worker: RunningWorker | null = null;
  if (role === 'work' || (role !== 'look' && server.embedded)) {
    // Temporal's native part takes longest to load, and few commands need it.
    const { startWorker } = await import('./start-worker.js');
    const manner = { graceMs, log, makesCalls: role !== 'steer' };
    const started = await startWorker(server, { config, store, keys }, manner);
    cleanup.add(() => started.stop());
    worker = started;
  }
  // Worker and client share a connection, so that a run can begin in the process that asked for it.
  const connection = worker?.connection ?? (await Connection.connect(server.connection));
  if (worker === null) cleanup.add(() => connection.close());
  const dataConverter = keys && encryptionConverter(keys, config.encryption);
  const temporal = new Client({ connection, namespace, dataConverter });
  const conductor = new ConductorClient({ client: temporal, store, taskQueue: config.temporal.taskQueue });
  return { server, config, store, temporal, conductor, worker };
}

type Step = () => Promise<void>;

/** What was opened and must be closed, the latest first; a step that fails does not keep the others from their turn. */
export class Cleanup {
  private readonly steps: Step[] = [];

  add(step: Step): void {
    this.steps.push(step);
  }

  /** Closes everything once; rejects with the last failure, if any step failed. */
  async run(): Promise<void> {
    const step = this.steps.pop();
    if (step !== undefined) await step().finally(() => this.run());
  }
}
