import type { StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, open, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { z } from 'zod';
import { makeOwnFolder } from '../runtime/own-folder';
import { reasonOf } from '../errors';
import { listen, type Listening } from '../network/listen';
import { startProgram } from '../runtime/start-program';
import { askServer, type Say, type TemporalServer } from './configured-server';
import { isLocked, lockFile, withFolderLock } from './file-lock';
import { databasePath, isOwnDatabase } from './own-database';
import { findTemporalCli } from './downloads';

/**
 * Returns the one embedded server of a folder, running or new: a second one on the same SQLite file would break both.
 * Operating system locks show the state, so that a killed process leaves nothing behind:
 * - `commands.lock`: a command is finding, starting or stopping the server.
 * - `server.json`: the server, which inherits the lock from its starter, runs where the file says.
 * - `users.lock`, shared: a command uses the server. The last one to leave stops it.
 * - `up.lock`, shared: one of these commands runs until it is stopped.
 */
export async function embeddedServer({
  folder,
  namespace = 'default',
  stays = false,
  say,
  env = process.env,
}: {
  readonly folder: string;
  readonly namespace?: string;
  readonly stays?: boolean | undefined;
  readonly say: Say;
  readonly env?: NodeJS.ProcessEnv;
}): Promise<TemporalServer> {
  const home = resolve(folder);
  makeOwnFolder(home);
  // Something else may have made the folder; a folder of another user stays as its owner wants it.
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

/** Whether a command that runs until it is stopped, such as `up`, uses the folder's server. */
export async function isUpHere(folder: string, say: Say): Promise<boolean> {
  return existsSync(folder) && withFolderLock(folder, say, () => isLocked(join(folder, 'up.lock')));
}

const serverRecordSchema = z.object({
  // Accepts only this machine, since files in a folder may be forged.
  address: z.string().regex(/^127\.0\.0\.1:\d{1,5}$/),
  uiAddress: z.string().regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/),
  /** Never 1: a kill of that process group would reach every process. */
  pid: z.int().min(2),
});

/** The folder's running server, or the last one, whose ports are used again. */
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

/** Returns the folder's server if its process runs; null if it must be started. */
export async function runningServer(folder: string): Promise<ServerRecord | null> {
  return (await isRunning(folder)) ? readRecord(folder) : null;
}

async function isRunning(folder: string): Promise<boolean> {
  const file = await open(recordPath(folder), 'r').catch(() => null);
  const isFree = file === null || tryLock(file.fd, { shared: true });
  await file?.close();
  return !isFree;
}

/**
 * Start failures that a second attempt may avoid: a program took the port after it was found free, or the server
 * panicked, as Temporal's was once seen to do on a busy machine.
 */
const PASSING = /address already in use|^it ended at once: panic: /;

/** Starts the folder's server, on its earlier ports if they are free. The caller holds the folder's lock. */
async function startServer(
  folder: string,
  namespace: string,
  { env, say }: { readonly env: NodeJS.ProcessEnv; readonly say: Say },
): Promise<{ readonly record: ServerRecord; readonly source: string }> {
  const { path: cli, source } = await findTemporalCli({ env, say });
  const launch = (): Promise<ServerRecord> => launchServer(folder, namespace, { cli, env });
  try {
    const record = await launch().catch((error: unknown) => {
      if (PASSING.test(reasonOf(error))) return launch();
      throw error;
    });
    say(`Started Temporal (${source}); its page is ${record.uiAddress}`);
    return { record, source };
  } catch (cause) {
    await stopServer(folder);
    throw new Error(`The embedded Temporal server (${cli}) did not start: ${reasonOf(cause)}`, { cause });
  }
}

async function launchServer(
  folder: string,
  namespace: string,
  { cli, env }: { readonly cli: string; readonly env: NodeJS.ProcessEnv },
): Promise<ServerRecord> {
  const log = await open(logPath(folder), 'a', 0o600);
  const file = await open(recordPath(folder), 'a+', 0o600);
  try {
    if (!tryLock(file.fd))
      throw new Error(
        `another process holds ${recordPath(folder)}, which has no address yet: wait until that one has started its server, or stop it`,
      );
    const { size: logStart } = await log.stat();
    const last = await readRecord(folder);
    const ports = await freePorts(last);
    await file.truncate();
    const args = ['-c', START, 'sh', ...ports.map(String), cli, ...serverArguments(folder, namespace, ports)];
    // In a process group of its own, so that Ctrl-C in a terminal reaches only the command. The file carries the lock.
    const stdio: StdioOptions = ['ignore', log.fd, log.fd, file.fd];
    const child = startProgram('/bin/sh', args, { cwd: folder, env, detached: true, stdio });
    await once(child, 'spawn');
    child.unref();
    const pid = child.pid ?? 0;
    await file.close();
    const record = { address: `127.0.0.1:${ports[0]}`, uiAddress: `http://127.0.0.1:${ports[1]}`, pid };
    if (await serves(folder, record, namespace)) return record;
    const written = (await readFile(logPath(folder))).subarray(logStart).toString('utf8');
    const reason = readLastWord(written);
    throw new Error(`it ended at once: ${reason}. Its full output is in ${logPath(folder)}.`);
  } finally {
    await Promise.all([file.close(), log.close()]);
  }
}

type Ports = readonly [number, number];

function serverArguments(folder: string, namespace: string, [port, uiPort]: Ports): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
    ...['--namespace', namespace, '--db-filename', databasePath(folder)],
    // A commit then survives a killed process, but not a power loss, and does not wait for the disk.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    // Locks every other server out of the file, whoever starts it.
    ...['--sqlite-pragma', 'locking_mode=EXCLUSIVE'],
    // One partition per task queue instead of four: priorities order calls within a partition; one is enough here.
    ...['--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1'],
    ...['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
    ...['--log-level', 'warn'],
  ];
}

/** The process writes its address before it becomes the server, so that the next command can use and stop it. */
const START =
  'umask 077; printf \'{"address":"127.0.0.1:%d","uiAddress":"http://127.0.0.1:%d","pid":%d}\' "$1" "$2" $$ >&3; shift 2; exec "$@"';

/** Timeout for the server's start, its answer and its end, long enough for a busy machine. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 50;

/** Waits until the folder's server answers for a namespace, which needs its database. False if the server ends. */
async function serves(folder: string, { address, pid }: ServerRecord, namespace: string): Promise<boolean> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      await askServer({ address }, (service) => service.describeNamespace({ namespace }));
      return true;
    } catch (error) {
      if (!(await isRunning(folder))) return false;
      if (Date.now() > deadline) {
        const what = `The Temporal server of this folder (process ${pid}, ${address}) does not serve namespace`;
        const remedy = `Stop it ("kill ${pid}") and try again: its workflows are kept.`;
        throw new Error(`${what} "${namespace}": ${reasonOf(error)}. ${remedy}`, { cause: error });
      }
    }
    await wait(PAUSE_MS);
  }
}

/**
 * Kills the folder's server and waits until it is gone. Nothing is lost: every change is committed before its reply. A
 * graceful stop would hold callers for one more second (server 1.32, `service/frontend/service.go`).
 */
export async function stopServer(folder: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  const running = await runningServer(folder);
  if (running === null) return;
  const { pid } = running;
  // The whole process group, since a script may start the CLI.
  process.kill(-pid, 'SIGKILL');
  while (await isRunning(folder)) {
    if (Date.now() > deadline) throw new Error(`The Temporal server does not stop: see "ps -p ${pid}".`);
    await wait(5);
  }
}

const REASON_LENGTH = 300;

/** Returns the one line that matters of the server's last output, which also holds the stacks of all its threads. */
export function readLastWord(log: string): string {
  const lines = log.trim().split('\n');
  const line = lines.findLast((each) => /^(?:Error|panic): /.test(each)) ?? lines.at(-1) ?? '';
  // Go's error messages end with their cause.
  const reason = line.length > REASON_LENGTH ? `… ${line.slice(-REASON_LENGTH)}` : line;
  const remedy = 'another server has it open: stop that one, or set TEMPORAL_ADDRESS to it';
  return line.includes('database is locked') ? `${reason} (${remedy})` : reason || 'it wrote nothing';
}

/** Returns two free TCP ports of 127.0.0.1, the last server's if possible. Holds both at once, so that they differ. */
async function freePorts(last: ServerRecord | null): Promise<Ports> {
  const portOf = (place = ''): number => Number(place.split(':').at(-1));
  const hold = (port: number): Promise<Listening> => listen(createServer(), port, '127.0.0.1');
  const holdOrOther = (place?: string): Promise<Listening> => hold(portOf(place)).catch(() => hold(0));
  const held = [await holdOrOther(last?.address), await holdOrOther(last?.uiAddress)] as const;
  await Promise.all(held.map(({ close }) => close()));
  return [portOf(held[0].url), portOf(held[1].url)];
}
