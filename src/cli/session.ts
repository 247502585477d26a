import { join } from 'node:path';
import { Client, Connection, type ConnectionLike } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { ConductorClient } from '../client/conductor-client';
import type { TrainableConfig as Config } from '../training/config/schema';
import { encryptionConverter } from '../encryption/codec';
import { configuredKeys } from '../encryption/keys';
import type { TemporalServer } from '../local/configured-server';
import type { Say } from '../local/reason-of';
import { openStore } from '../store/open-store';
import { FOLDER } from './attach';
import { installRuntime, logTo, type RunningWorker, startWorker, type WorkerSettings } from './start-worker';

/** What a command works with while it runs. */
export interface Session {
  readonly server: TemporalServer;
  readonly temporal: Client;
  readonly conductor: ConductorClient;
  /** Gives everything back, the server included. */
  close(): Promise<void>;
}

/** Connects to a server for a command that asks or looks on. It takes the server over, and leaves it should this fail. */
export function openSession(server: TemporalServer, config: Config): Promise<Session> {
  return openWith(server, async (cleanup) => {
    const connection = await Connection.connect(server.connection);
    cleanup.add(() => connection.close());
    return clientsOn(connection, server, config);
  });
}

/** Opens the parts of a session; whatever was opened is closed in reverse, at the end or when a part fails. */
async function openWith<Parts>(
  server: TemporalServer,
  openParts: (cleanup: Cleanup) => Promise<Parts>,
): Promise<Parts & Pick<Session, 'server' | 'close'>> {
  const cleanup = new Cleanup();
  cleanup.add(() => server.stop());
  try {
    return { ...(await openParts(cleanup)), server, close: () => cleanup.run() };
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** The clients of a session. */
function clientsOn(
  connection: ConnectionLike,
  { namespace }: TemporalServer,
  config: Config,
): Pick<Session, 'temporal' | 'conductor'> {
  const keys = configuredKeys(config);
  const { taskQueue } = config.temporal;
  const temporal = new Client({
    connection,
    namespace,
    ...(keys && { dataConverter: encryptionConverter(keys) }),
  });
  const store = openStore(config.store, process.cwd(), { keys });
  return { temporal, conductor: new ConductorClient({ client: temporal, store, taskQueue }) };
}

/** A session whose process makes the calls itself. */
export interface WorkerSession extends Session {
  readonly worker: RunningWorker;
}

/** How a session's worker behaves. */
export interface WorkerManner extends Pick<WorkerSettings, 'graceMs' | 'makesCalls'> {
  /** Takes the SDK's warnings. Default: a file, since the terminal belongs to the live view. */
  readonly log?: Say;
}

/** A session with a worker. Both use one connection, so that a run can begin in the process that asked for it. */
export function openWorkerSession(
  server: TemporalServer,
  config: Config,
  { graceMs, makesCalls = true, log = logTo(join(FOLDER, 'worker.log')) }: WorkerManner,
): Promise<WorkerSession> {
  return openWith(server, async (cleanup) => {
    installRuntime(log);
    const connection = await NativeConnection.connect(server.connection);
    cleanup.add(() => connection.close());
    const keys = configuredKeys(config);
    const worker = await startWorker({
      connection,
      namespace: server.namespace,
      config,
      store: openStore(config.store, process.cwd(), { keys }),
      keys,
      isEmbedded: server.embedded,
      graceMs,
      makesCalls,
    });
    cleanup.add(() => worker.stop());
    return { ...clientsOn(connection, server, config), worker };
  });
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
