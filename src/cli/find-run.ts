import type { Client } from '@temporalio/client';
import { findByPrefix, newestRun } from '../client/list-runs';
import { isNotFound } from '../client/steer';
import { UsageError } from './exit-code';
import { type Session, type SessionOptions, withSession } from './session';
import { loadSettings, type WorkOptions } from './load-settings';
import { startedRuns } from './started-runs';
import { say } from './terminal';

/** Does something with a run that was started before. @throws UsageError for one that the server does not know */
export async function withRun<Result>(
  given: string,
  options: WorkOptions,
  role: SessionOptions['role'],
  work: (session: Session, id: string) => Promise<Result>,
): Promise<Result> {
  const { config: file, trust } = options;
  return withSession(await loadSettings(options), { file, trust, role, used: true }, async (session) =>
    work(session, await findRun(session, given)),
  );
}

const MOST_NAMED = 5;

/** Which runs a command shows: all of a folder's own server, of one that others share those of the same workers. */
export function queueListed({ server, config }: Session): string | undefined {
  return server.embedded ? undefined : config.temporal.taskQueue;
}

/**
 * The id of the run that a person means: by its whole id, by the beginning of it that no other has, or by `last`.
 *
 * @throws UsageError where there is none, or more than one
 */
export async function findRun(session: Session, given: string): Promise<string> {
  const { temporal, server } = session;
  if (await exists(temporal, given)) return given;
  const known = await startedRuns(server);
  const found = given === 'last' ? await findLast(session, known) : await findOnly(temporal, given, known);
  if (found === null) throw unknownRun(given, session);
  say(`Run ${found}`);
  return found;
}

/** The run that was started last: on a server that others share, by this folder if it started any. */
async function findLast(session: Session, known: readonly string[]): Promise<string | null> {
  const { temporal, server } = session;
  if (!server.embedded) for (const id of known) if (await exists(temporal, id)) return id;
  return newestRun(temporal, queueListed(session), known);
}

async function findOnly(temporal: Client, prefix: string, known: readonly string[]): Promise<string | null> {
  const ids = await findByPrefix(temporal, prefix, known);
  if (ids.length <= 1) return ids[0] ?? null;
  const named = ids.slice(0, MOST_NAMED).join('\n  ');
  const more = ids.length > MOST_NAMED ? '\n  …' : '';
  throw new UsageError(
    `${JSON.stringify(prefix)} is the beginning of more than one run; give more of its id:\n  ${named}${more}`,
  );
}

async function exists(temporal: Client, id: string): Promise<boolean> {
  try {
    await temporal.workflow.getHandle(id).describe();
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return false;
  }
}

function unknownRun(id: string, { server }: Session): UsageError {
  const what = id === 'last' ? 'no run yet' : `no run ${JSON.stringify(id)}`;
  return new UsageError(
    `there is ${what} in namespace ${server.namespace} at ${server.address}: ` +
      'check the id ("temporal-conductor list" shows all), the folder you are in, and TEMPORAL_ADDRESS',
  );
}
