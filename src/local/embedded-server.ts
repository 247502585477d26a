import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, type FileHandle, open, readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { z } from 'zod';
import { makeOwnFolder } from '../own-folder';
import { reasonOf } from '../errors';
import { startProgram } from '../start-program';
import { askServer, type AttachOptions, type TemporalServer } from './configured-server';
import { isLocked, lockFile, withFolderLock } from './file-lock';
import { databasePath, isOwnDatabase } from './own-database';
import { findTemporalCli } from './temporal-cli';

/**
 * The one embedded server of a folder: the running one, or a new one. A second one on the same SQLite file would break
 * both.
 *
 * Locks of the operating system tell what goes on, so that nothing is left behind by a process that was killed:
 *
 * - `commands.lock`: a command is finding, starting or stopping the server.
 * - `server.json`: the server runs. It inherits the lock from the command that starts it, and the file says where it is.
 * - `users.lock`, shared: a command uses the server. The last one to leave stops it.
 * - `up.lock`, shared: one of them runs until it is stopped.
 */
export async function embeddedServer({
  folder,
  namespace = 'default',
  stays = false,
  say,
  env = process.env,
}: AttachOptions): Promise<TemporalServer> {
  const home = resolve(folder);
  makeOwnFolder(home);
  // It may have been made by something else; a folder of another user stays as its owner wants it.
  await chmod(home, 0o700).catch(() => undefined);
  return withFolderLock(home, say, async () => {
    const isOwn = await isOwnDatabase(home, say);
    const running = await runningServer(home);
    const isServing = running !== null && (await serves(home, running, namespace));
    const { record, source } = isServing
      ? { record: running, source: `the server running in ${folder}` }
      : await startServer(home, namespace, { env, say });
    // Binds a new database to its folder.
    if (isOwn) await isOwnDatabase(home, say);

    const names = stays ? ['users.lock', 'up.lock'] : ['users.lock'];
    const uses = await Promise.all(names.map((name) => lockFile(join(home, name), { shared: true })));
    let left: Promise<void> | undefined;
    const leave = (): Promise<void> =>
      withFolderLock(home, say, async () => {
        for (const use of uses) await use?.close();
        if (!(await isLocked(join(home, 'users.lock')))) await stopServer(home);
      });
    return {
      address: record.address,
      namespace,
      connection: { address: record.address },
      uiAddress: record.uiAddress,
      embedded: true,
      isOwn,
      source,
      stop: () => (left ??= leave()),
    };
  });
}

/** Whether a command that runs until it is stopped, as `up` does, uses the folder's server. */
export async function isUpHere(folder: string, say: AttachOptions['say']): Promise<boolean> {
  return existsSync(folder) && withFolderLock(folder, say, () => isLocked(join(folder, 'up.lock')));
}

const serverRecordSchema = z.object({
  // Accepts this machine alone, since what lies in a folder may be forged.
  address: z.string().regex(/^127\.0\.0\.1:\d{1,5}$/),
  uiAddress: z.string().regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/),
  /** Number of its process, once it is started. Never 1: the group that is killed would be every process. */
  pid: z.int().min(2).nullable(),
});

/** Content of `server.json`: the folder's running embedded server, or the last, whose ports are used again. */
export type ServerRecord = z.infer<typeof serverRecordSchema>;

const recordPath = (folder: string): string => join(folder, 'server.json');
const logPath = (folder: string): string => join(folder, 'server.log');

async function readRecord(folder: string): Promise<ServerRecord | null> {
  try {
    return serverRecordSchema.parse(JSON.parse(await readFile(recordPath(folder), 'utf8')));
  } catch {
    return null;
  }
}

/** The folder's server if its process runs; null when it is to be started. */
export async function runningServer(folder: string): Promise<ServerRecord | null> {
  const file = await open(recordPath(folder), 'r').catch(() => null);
  try {
    return file === null || tryLock(file.fd, { shared: true }) ? null : await readRecord(folder);
  } finally {
    await file?.close();
  }
}

/** Starts the folder's server, on the ports it had before where they are free. The caller holds the folder's lock. */
async function startServer(
  folder: string,
  namespace: string,
  { env, say }: Required<Pick<AttachOptions, 'env' | 'say'>>,
): Promise<{ readonly record: ServerRecord; readonly source: string }> {
  const { path: cli, source } = await findTemporalCli({ env, say });
  const log = await open(logPath(folder), 'a', 0o600);
  const file = await open(recordPath(folder), 'a+', 0o600);
  try {
    if (!tryLock(file.fd)) throw new Error(`a server runs, and ${recordPath(folder)} does not say where`);
    const { size: logStart } = await log.stat();
    const last = await readRecord(folder);
    const [port = 0, uiPort = 0] = await freePorts([portOf(last?.address), portOf(last?.uiAddress)]);
    const planned: ServerRecord = {
      address: `127.0.0.1:${port}`,
      uiAddress: `http://127.0.0.1:${uiPort}`,
      pid: null,
    };
    // Before the start: should we be killed right after it, the next command knows where to ask.
    await writeRecord(file, planned);
    const args = serverArguments(folder, namespace, [port, uiPort]);
    const record = { ...planned, pid: await spawnServer(cli, args, { folder, env, log, file }) };
    await writeRecord(file, record);
    await file.close();
    if (await serves(folder, record, namespace)) {
      say(`Started Temporal (${source}); its page is ${record.uiAddress}`);
      return { record, source };
    }
    const written = (await readFile(logPath(folder))).subarray(logStart).toString('utf8');
    throw new Error(
      `it ended at once: ${readLastWord(written)}. All that it wrote is in ${logPath(folder)}.`,
    );
  } catch (error) {
    await file.close();
    await stopServer(folder);
    throw new Error(`The embedded Temporal server (${cli}) did not start: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await log.close();
  }
}

async function writeRecord(file: FileHandle, record: ServerRecord): Promise<void> {
  await file.truncate();
  await file.write(`${JSON.stringify(record, null, 2)}\n`);
}

function serverArguments(folder: string, namespace: string, [port, uiPort]: [number, number]): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
    ...['--namespace', namespace, '--db-filename', databasePath(folder)],
    // A commit is then safe from a killed process, not from a loss of power, and costs no wait for the disk.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    // Keeps every other server from the file, whoever starts it.
    ...['--sqlite-pragma', 'locking_mode=EXCLUSIVE'],
    // One partition a task queue, not four: priorities order the calls of a partition, and one machine needs no more.
    ...['--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1'],
    ...['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
    ...['--log-level', 'warn'],
  ];
}

interface Surroundings {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: FileHandle;
  /** Carries the lock that lasts as long as the server. */
  readonly file: FileHandle;
}

/**
 * Starts the server's process in a group of its own, so that Ctrl-C in a terminal reaches only the command, which then
 * decides; it outlives its starter. Its environment holds no key: it calls no model.
 */
async function spawnServer(
  cli: string,
  args: string[],
  { folder, env, log, file }: Surroundings,
): Promise<number> {
  let child: ChildProcess;
  // Its files are for their owner alone.
  const umask = process.umask(0o077);
  try {
    const stdio = ['ignore', log.fd, log.fd, file.fd] as const;
    child = startProgram(cli, args, { cwd: folder, env, detached: true, stdio: [...stdio] });
  } finally {
    process.umask(umask);
  }
  await once(child, 'spawn');
  child.unref();
  return child.pid ?? 0;
}

/** A busy machine may need so long to start the server, to let it answer or to end it. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 50;

/** Waits until the folder's server answers for a namespace, which takes its database, too; false if it ends instead. */
async function serves(folder: string, { address, pid }: ServerRecord, namespace: string): Promise<boolean> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      await askServer({ address }, (service) => service.describeNamespace({ namespace }));
      return true;
    } catch (error) {
      if ((await runningServer(folder)) === null) return false;
      if (Date.now() > deadline) {
        throw new Error(
          `The Temporal server of this folder (process ${pid}, ${address}) does not serve namespace "${namespace}": ` +
            `${reasonOf(error)}. Stop it ("kill ${pid}") and try again: its workflows are kept.`,
          { cause: error },
        );
      }
    }
    await wait(PAUSE_MS);
  }
}

/**
 * Kills the folder's server and waits until it is gone; its database stays. Nothing is lost by a kill: every change is
 * committed before it is answered. Asked to stop, it would hold its callers for a second more, since it drains its own
 * workers' long polls (server 1.32, `service/frontend/service.go`), and would keep no more on disk.
 */
export async function stopServer(folder: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  const { pid = null } = (await runningServer(folder)) ?? {};
  if (pid === null) return;
  // Its whole group, since the CLI may be started by a script.
  process.kill(-pid, 'SIGKILL');
  while ((await runningServer(folder)) !== null) {
    if (Date.now() > deadline) {
      throw new Error(
        `The Temporal server (process ${pid}) does not end, though killed: see "ps -p ${pid}".`,
      );
    }
    await wait(5);
  }
}

function portOf(address: string | undefined): number | null {
  const port = /:(\d+)$/.exec(address ?? '')?.[1];
  return port === undefined ? null : Number(port);
}

const REASON_LENGTH = 300;

/** The one line that matters in what the server wrote until it ended: it adds the stacks of all its threads. */
export function readLastWord(log: string): string {
  const lines = log.trim().split('\n');
  const line = lines.findLast((each) => /^(?:Error|panic): /.test(each)) ?? lines.at(-1) ?? '';
  // Errors of Go end with their cause.
  const reason = line.length > REASON_LENGTH ? `… ${line.slice(-REASON_LENGTH)}` : line;
  const remedy = 'another server has it open: stop that one, or set TEMPORAL_ADDRESS to it';
  return line.includes('database is locked') ? `${reason} (${remedy})` : reason || 'it wrote nothing';
}

/**
 * One free TCP port of 127.0.0.1 for each wish: the wished one if it is free, else any other.
 *
 * All are held until the last is found, so that no two are the same. (The package `get-port` refuses what it gave out in
 * the last 15 s, so that a server started again would lose its ports.)
 */
async function freePorts(wishes: readonly (number | null)[]): Promise<number[]> {
  const held: Server[] = [];
  try {
    for (const wish of wishes) held.push(await listen(wish ?? 0).catch(() => listen(0)));
    return held.map((server) => (server.address() as AddressInfo).port);
  } finally {
    await Promise.all(held.map((server) => once(server.close(), 'close')));
  }
}

async function listen(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
