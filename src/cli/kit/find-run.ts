import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OWN_FOLDER } from '../../runtime/own-folder';
import { describeRun, findByPrefix, newestRun } from '../../client';
import { someOf } from '../../config/errors';
import { UsageError } from '../../errors';
import { type Session, type SessionOptions, withSession } from './session';
import type { TemporalServer } from '../../local/configured-server';
import { loadSettings, type WorkOptions } from './load-settings';
import { say } from './terminal';

/** Runs `work` for an earlier run. @throws UsageError if the server does not know it */
export async function withRun<Result>(
  given: string,
  options: WorkOptions,
  role: SessionOptions['role'],
  work: (session: Session, id: string) => Promise<Result>,
): Promise<Result> {
  return withSession(await loadSettings(options), options, { role, used: true }, async (session) =>
    work(session, await findRun(session, given)),
  );
}

/** Returns the task queue that a command lists: undefined (all) on the embedded server, else the configured one. */
export function queueListed({ server, config }: Session): string | undefined {
  return server.embedded ? undefined : config.temporal.taskQueue;
}

/** Finds a run by its whole id, a unique prefix, or `last`, which no id can hide. @throws UsageError if none or several match */
export async function findRun(session: Session, given: string): Promise<string> {
  const { temporal, server } = session;
  const isLast = given === 'last';
  if (!isLast && (await describeRun(temporal, given)) !== null) return given;
  const known = await startedRuns(server);
  const ids = isLast ? await findLast(session, known) : await findByPrefix(temporal, given, known);
  const [found] = ids;
  if (found === undefined) throw unknownRun(given, session);
  if (ids.length > 1) {
    const what = `${JSON.stringify(given)} matches more than one run; use a longer prefix`;
    throw new UsageError(`${what}:\n  ${someOf(ids, '\n  ')}`);
  }
  say(`Run ${found}`);
  return found;
}

/** Finds the newest run; on a shared server, the newest of this folder if it started any. */
async function findLast(session: Session, known: readonly string[]): Promise<string[]> {
  const { temporal, server } = session;
  if (!server.embedded) for (const id of known) if ((await describeRun(temporal, id)) !== null) return [id];
  const newest = await newestRun(temporal, queueListed(session), known);
  return newest === null ? [] : [newest];
}

function unknownRun(id: string, { server }: Session): UsageError {
  const what = id === 'last' ? 'no run yet' : `no run ${JSON.stringify(id)}`;
  const remedy =
    'check the id ("temporal-conductor list --limit 100" shows more), the folder you are in, and TEMPORAL_ADDRESS';
  return new UsageError(`there is ${what} in namespace ${server.namespace} at ${server.address}: ${remedy}`);
}

// Temporal lists a run only a moment after its start, so the folder keeps the ids of its runs, each as a file name.

const MOST_KEPT = 10;

/** Records a run before it is started, so that not even a killed command loses it. */
export async function noteRun(server: TemporalServer, id: string): Promise<void> {
  const folder = folderOf(server);
  const pathOf = (run: string): string => join(folder, encodeURIComponent(run));
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(pathOf(id), '', { mode: 0o600 });
    for (const old of (await startedRuns(server)).slice(MOST_KEPT)) await rm(pathOf(old), { force: true });
  } catch {
    // A folder that cannot be written must not prevent a solve: the server lists the run soon.
  }
}

/** Returns the ids of runs that commands of this folder started on this server, newest first. */
export async function startedRuns(server: TemporalServer): Promise<string[]> {
  const folder = folderOf(server);
  const names = await readdir(folder).catch(() => []);
  const noted = names.map(async (name) => {
    // Another command may be removing it.
    const file = await stat(join(folder, name)).catch(() => null);
    return { id: idIn(name), at: file?.mtimeMs ?? 0 };
  });
  const newestFirst = (await Promise.all(noted)).sort((one, other) => other.at - one.at);
  return newestFirst.flatMap(({ id }) => id ?? []);
}

/** Returns the id that a file's name encodes; null for a file that no command made. */
function idIn(name: string): string | null {
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

/** Returns the folder of a server's run ids; the port of the embedded server can change, so its address is left out. */
function folderOf({ embedded, address, namespace }: TemporalServer): string {
  const place = `${embedded ? 'embedded' : address} ${namespace}`;
  return join(OWN_FOLDER, 'runs', place.replace(/[^\w.-]/g, '_'));
}
