import { join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { configuredKeys } from '../encryption/configured-keys';
import type { Say } from '../local/say';
import type { TemporalServer } from '../local/temporal-server';
import type { Config } from '../pool/config-schema';
import { openStore } from '../store/open-store';
import { FOLDER } from './attach';
import { installRuntime, logTo } from './install-runtime';
import { clientsOn, openWith, type Session } from './open-session';
import { startWorker, type RunningWorker, type WorkerSettings } from './start-worker';

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
