import { attachServer } from './attach';
import { fitToServer } from './fit-to-server';
import { loadSettings } from './load-settings';
import { openSession, type Session } from './open-session';
import { openWorkerSession } from './open-worker-session';

/**
 * A session to change a run that there is. Beside the embedded server it brings a worker that answers for the run but
 * makes no call of it: one that was begun now would be broken off, and be paid for, when the command ends.
 *
 * @param named the file that `--config` names, if any
 * @throws UsageError where no run was ever started in this folder
 */
export async function openSteeringSession(named: string | undefined): Promise<Session> {
  const loaded = await loadSettings(named);
  const server = await attachServer(loaded, { used: true });
  const config = fitToServer(server, loaded, named);
  return server.embedded
    ? openWorkerSession(server, config, { graceMs: 0, makesCalls: false })
    : openSession(server, config);
}
