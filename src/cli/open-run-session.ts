import { attachServer } from './attach';
import { fitToServer } from './fit-to-server';
import { loadSettings } from './load-settings';
import { openSession, type Session } from './open-session';
import { openWorkerSession, type WorkerSession } from './open-worker-session';

/**
 * A session about a run that there is. Beside the embedded server it brings a worker, so that a run left behind goes on
 * and a cancellation is heard.
 *
 * @param named the file that `--config` names, if any
 * @throws UsageError where no run was ever started in this folder
 */
export async function openRunSession(named: string | undefined): Promise<Session | WorkerSession> {
  const loaded = await loadSettings(named);
  const server = await attachServer(loaded, { used: true });
  const config = fitToServer(server, loaded, named);
  return server.embedded ? openWorkerSession(server, config, { graceMs: 0 }) : openSession(server, config);
}
