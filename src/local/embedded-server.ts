import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { withFolderLock } from './folder-lock';
import { runningServer, stopRunningServer } from './folder-server';
import { enterFolder, liveUsers } from './folder-users';
import { startServer } from './start-server';
import type { AttachOptions, TemporalServer } from './temporal-server';

/**
 * The one embedded server of a folder: the running one, or a new one.
 *
 * A second server on the same SQLite file would break both, so finding, starting and stopping happen under a lock.
 * Nobody owns the server. Each process that uses it is entered in the folder, and the last that leaves stops it; one
 * that was killed no longer counts. So whoever finds a server that nobody uses any more has thereby adopted it.
 */
export async function embeddedServer({
  folder,
  namespace = 'default',
  stays = false,
  say,
  env = process.env,
}: AttachOptions): Promise<TemporalServer> {
  const home = resolve(folder);
  await mkdir(home, { recursive: true });
  return withFolderLock(home, say, async () => {
    const others = await liveUsers(home);
    const running = await runningServer(home, namespace);
    if (running && others.length === 0)
      say('Taking over the Temporal server that an earlier command left running.');
    const { record, source } = running
      ? { record: running, source: `the server running in ${folder}` }
      : await startServer(home, namespace, { env, say });
    if (!running) say(`Started Temporal (${source}); its page is ${record.uiAddress}`);

    const leave = await enterFolder(home, stays);
    return {
      address: record.address,
      namespace,
      connection: { address: record.address },
      uiAddress: record.uiAddress,
      embedded: true,
      started: !running,
      outlives: others.some((user) => user.stays),
      source,
      stop: once(() => withFolderLock(home, say, () => leaveServer(home, leave))),
    };
  });
}

async function leaveServer(home: string, leave: () => Promise<void>): Promise<void> {
  await leave();
  if ((await liveUsers(home)).length === 0) await stopRunningServer(home);
}

function once(action: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= action());
}
