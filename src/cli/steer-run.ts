import { resolve } from 'node:path';
import type { ConductorClient } from '../client/conductor-client';
import { liveUsers } from '../local/folder-users';
import { FOLDER } from './attach';
import { EXIT, type ExitCode } from './exit-code';
import { explainUnknown } from './follow-run';
import { listenForInterruption, unlessInterrupted } from './interruption';
import { openSteeringSession } from './open-steering-session';
import type { Session } from './open-session';
import { say } from './terminal';

/** Whoever waits longer than this is told for what. */
const PATIENCE_MS = 5_000;

/**
 * Changes a run, and says what to do where nobody is there to go on with it.
 *
 * @param steer sends the message, and says what came of it
 * @throws UsageError for an unknown run, RefusedError where the run does not do it
 */
export async function steerRun(
  id: string,
  config: string | undefined,
  steer: (conductor: ConductorClient) => Promise<void>,
): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const session = await openSteeringSession(config);
  const patience = setTimeout(() => {
    say(`Waiting for a worker that answers for run ${id}: start one with "temporal-conductor worker" …`);
  }, PATIENCE_MS);
  try {
    const done = steer(session.conductor).then(() => true);
    if ((await unlessInterrupted(interruption, done)) === undefined) {
      say(`Interrupted. Run ${id} may still do what it was asked to, once a worker answers for it.`);
      return EXIT.interrupted;
    }
    if (!(await isServed(session))) say(`Nobody works on it now; go on with: ${watchOf(id, config)}`);
    return EXIT.answered;
  } catch (error) {
    throw explainUnknown(error, id, session);
  } finally {
    clearTimeout(patience);
    await session.close();
  }
}

/** On a server elsewhere nobody knows; beside the embedded one, the folder's other processes are the workers. */
async function isServed({ server }: Session): Promise<boolean> {
  if (!server.embedded) return true;
  const users = await liveUsers(resolve(FOLDER));
  return users.some(({ pid }) => pid !== process.pid);
}

function watchOf(id: string, config: string | undefined): string {
  return `temporal-conductor watch ${id}${config === undefined ? '' : ` --config ${config}`}`;
}
