import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TemporalServer } from '../local/configured-server';
import { FOLDER } from './load-settings';

// Temporal lists a run a moment after its start, and an embedded server that is stopped meanwhile later still. So the
// folder keeps the ids of the runs that were started in it: a file each, named by the id. What a run is, the server knows.

const MOST_KEPT = 10;

/** Notes a run before it is started, so that not even a killed command loses it. */
export async function noteRun(server: TemporalServer, id: string): Promise<void> {
  const folder = folderOf(server);
  const nameOf = encodeURIComponent;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, nameOf(id)), '', { mode: 0o600 });
    const surplus = (await startedRuns(server)).slice(MOST_KEPT);
    for (const old of surplus) await rm(join(folder, nameOf(old)), { force: true });
  } catch {
    // A folder that takes no files keeps no one from solving: the server lists the run soon.
  }
}

/** The ids of runs that commands of this folder started on this server, the newest first. */
export async function startedRuns(server: TemporalServer): Promise<string[]> {
  const folder = folderOf(server);
  const names = await readdir(folder).catch(() => []);
  const noted = await Promise.all(
    // Another command may be removing it.
    names.map(async (name) => ({
      name,
      at: (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? 0,
    })),
  );
  return noted.sort((one, other) => other.at - one.at).map(({ name }) => decodeURIComponent(name));
}

/** The embedded server's port can change. */
function folderOf({ embedded, address, namespace }: TemporalServer): string {
  const place = `${embedded ? 'embedded' : address} ${namespace}`;
  return join(FOLDER, 'runs', place.replace(/[^\w.-]/g, '_'));
}
