import type { StdioOptions } from 'node:child_process';
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
import { askServer, type Say, type TemporalServer } from './configured-server';
import { isLocked, lockFile, withFolderLock } from './file-lock';
import { databasePath, isOwnDatabase } from './own-database';
import { findTemporalCli } from './downloads';

/**
 * The one embedded server of a folder, running or new: a second one on the same SQLite file would break both.
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
}: {
  /** Keeps database, log and records, e.g. `.conductor`. */
  readonly folder: string;
  readonly namespace?: string;
  /** True for a command that runs until it is stopped (`up`): others may rely on its server. */
  readonly stays?: boolean | undefined;
  readonly say: Say;
  readonly env?: NodeJS.ProcessEnv;
}): Promise<TemporalServer> {
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
export async function isUpHere(folder: string, say: Say): Promise<boolean> {
  return existsSync(folder) && withFolderLock(folder, say, () => isLocked(join(folder, 'up.lock')));
}

const serverRecordSchema = z.object({
  // Accepts this machine alone, since what lies in a folder may be forged.
  address: z.string().regex(/^127\.0\.0\.1:\d{1,5}$/),
  uiAddress: z.string().regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/),
  /** Never 1: the group that is killed would be every process. */
  pid: z.int().min(2),
});

/** The folder's running server, or the last, whose ports are used again. */
type ServerRecord = z.infer<typeof serverRecordSchema>;

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
  return (await isRunning(folder)) ? readRecord(folder) : null;
}

async function isRunning(folder: string): Promise<boolean> {
  const file = await open(recordPath(folder), 'r').catch(() => null);
  const isFree = file === null || tryLock(file.fd, { shared: true });
  await file?.close();
  return !isFree;
}

/** Starts the folder's server, on the ports it had before where they are free. The caller holds the folder's lock. */
async function startServer(
  folder: string,
  namespace: string,
  { env, say }: { readonly env: NodeJS.ProcessEnv; readonly say: Say },
): Promise<{ readonly record: ServerRecord; readonly source: string }> {
  const { path: cli, source } = await findTemporalCli({ env, say });
  const log = await open(logPath(folder), 'a', 0o600);
  const file = await open(recordPath(folder), 'a+', 0o600);
  try {
    if (!tryLock(file.fd)) throw new Error(`a server runs, and ${recordPath(folder)} does not say where`);
    const { size: logStart } = await log.stat();
    const last = await readRecord(folder);
    const ports = await freePorts([portOf(last?.address), portOf(last?.uiAddress)]);
    await file.truncate();
    const args = [...ports.map(String), cli, ...serverArguments(folder, namespace, ports)];
    const pid = await spawnServer(args, { cwd: folder, env, log, record: file });
    await file.close();
    const [address, uiAddress] = [`127.0.0.1:${ports[0]}`, `http://127.0.0.1:${ports[1]}`];
    const record = { address, uiAddress, pid };
    if (await serves(folder, record, namespace)) {
      say(`Started Temporal (${source}); its page is ${uiAddress}`);
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

type Ports = readonly [number, number];

function serverArguments(folder: string, namespace: string, [port, uiPort]: Ports): string[] {
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

/**
 * The server's process writes where it is before it becomes the server: whoever is killed meanwhile, the next command
 * can use and stop it. Its files are for their owner alone.
 */
const START =
  'umask 077; printf \'{"address":"127.0.0.1:%d","uiAddress":"http://127.0.0.1:%d","pid":%d}\' "$1" "$2" $$ >&3; shift 2; exec "$@"';

/**
 * Starts the server's process in a group of its own, so that Ctrl-C in a terminal reaches only the command, which then
 * decides; it outlives its starter. Its environment holds no key: it calls no model.
 *
 * @param record carries the lock that lasts as long as the server
 */
async function spawnServer(
  args: readonly string[],
  { cwd, env, log, record }: { cwd: string; env: NodeJS.ProcessEnv; log: FileHandle; record: FileHandle },
): Promise<number> {
  const stdio: StdioOptions = ['ignore', log.fd, log.fd, record.fd];
  const child = startProgram('/bin/sh', ['-c', START, 'sh', ...args], { cwd, env, detached: true, stdio });
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
      if (!(await isRunning(folder))) return false;
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
  const running = await runningServer(folder);
  if (running === null) return;
  const { pid } = running;
  // Its whole group, since the CLI may be started by a script.
  process.kill(-pid, 'SIGKILL');
  while (await isRunning(folder)) {
    if (Date.now() > deadline) {
      throw new Error(
        `The Temporal server (process ${pid}) does not end, though killed: see "ps -p ${pid}".`,
      );
    }
    await wait(5);
  }
}

/** 0, any port, where there is none. */
function portOf(address = ''): number {
  return Number(/:(\d+)$/.exec(address)?.[1] ?? 0);
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

/** Two free TCP ports of 127.0.0.1: each wished one if it is free, else any other. Held together, so that they differ. */
async function freePorts([first, second]: Ports): Promise<Ports> {
  const held = [await listen(first), await listen(second)] as const;
  await Promise.all(held.map(({ server }) => once(server.close(), 'close')));
  return [held[0].port, held[1].port];
}

async function listen(wish: number): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer().listen(wish, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return listen(0);
  }
  return { server, port: (server.address() as AddressInfo).port };
}
