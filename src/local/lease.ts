/**
 * The lease on a folder's server: a second server on the same SQLite file would break both.
 *
 * - `commands.lock` is locked while the server is found, started or stopped. Functions that change anything expect their
 *   caller to hold it (`withFolderLock`).
 * - The server itself locks its database for as long as it lives (`server-process.ts`).
 * - `server.json` says which process the server is, or was last, and on which ports.
 * - `users/` has an entry for each process that uses the server. No process owns it: the last to leave stops it, and a
 *   process that was killed no longer counts.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { tryLock } from 'fs-native-extensions';
import { z } from 'zod';
import { holdersOf, processMark, stillRuns } from './processes';
import { codeOf, reasonOf } from '../reason-of';
import type { Say } from './say';
import { databasePath, stopServer, waitUntilServing } from './server-process';

/** Contention is short, unless the other command downloads. */
const QUIET_ATTEMPTS = 20;

/**
 * Runs `action` while no other process of this machine runs one on the same folder. Waits for its turn as long as the
 * other lives, and says so, since the other may be downloading.
 *
 * The operating system holds the lock: it ends with its process, and a process that is stopped (Ctrl-Z) or asleep keeps it.
 */
export async function withFolderLock<T>(folder: string, say: Say, action: () => Promise<T>): Promise<T> {
  const path = join(folder, 'commands.lock');
  const file = await open(path, 'a+', 0o600);
  try {
    for (let attempt = 1; !tryLock(file.fd); attempt += 1) {
      if (attempt === QUIET_ATTEMPTS) {
        say(
          `Another command (process ${await holderOf(path)}) is preparing the embedded server of this folder: waiting for it.`,
        );
      }
      await wait(75);
    }
    await file.truncate();
    await file.write(String(process.pid));
    return await action();
  } finally {
    await file.close();
  }
}

/**
 * Keeps a file locked until it is let go, or this process ends.
 *
 * @returns what lets it go, or where another process of this machine has it, the number of that one
 */
export async function holdFile(path: string): Promise<{ letGo: () => Promise<void> } | { holder: string }> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  if (!tryLock(file.fd)) {
    await file.close();
    return { holder: await holderOf(path) };
  }
  await file.truncate();
  await file.write(String(process.pid));
  return { letGo: () => file.close() };
}

/** Windows lets nothing else read a locked file. */
function holderOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => 'unknown');
}

/** A busy machine may need so long to start the server or to let it answer. */
const PATIENCE_MS = 20_000;
/** A server whose starter was killed right after the start is up by then. */
const CLAIM_MS = 3_000;

/** The folder's server if it runs, even if its process was never recorded; null when it is to be started. */
export async function runningServer(folder: string, namespace: string): Promise<ServerRecord | null> {
  const record = await readServerRecord(folder);
  if (record !== null && (await serves(record, namespace))) return record;

  const database = databasePath(folder);
  const [pid] = await holdersOf(database);
  if (pid === undefined) return null;
  // A process that is not recorded has the database open: ours, whose starter was killed, or a stranger's.
  if (record?.process === null) {
    const isAlive = (): Promise<boolean> => Promise.resolve(true);
    const claim = waitUntilServing(record.address, namespace, isAlive, CLAIM_MS);
    if (await claim.catch(() => false)) return recordProcess(folder, record, pid);
  }
  throw new Error(
    `${database} is in use by process ${pid}, which was not started by a command in this folder. ` +
      `A second server on the same file would break both: stop that one ("kill ${pid}"), ` +
      'or set TEMPORAL_ADDRESS to it.',
  );
}

/** Whether the recorded server serves, for which it gets some time; false when its process does not run or ends. */
export async function serves({ address, process }: ServerRecord, namespace: string): Promise<boolean> {
  if (process === null) return false;
  const { pid, mark } = process;
  const isAlive = (): Promise<boolean> => stillRuns(pid, mark);
  if (!(await isAlive())) return false;
  try {
    return await waitUntilServing(address, namespace, isAlive, PATIENCE_MS);
  } catch (error) {
    throw new Error(
      `The Temporal server of this folder (process ${pid}, ${address}) does not serve namespace "${namespace}": ` +
        `${reasonOf(error)}. Stop it ("kill ${pid}") and try again: its workflows are kept.`,
      { cause: error },
    );
  }
}

/** Stops the folder's server, if it runs, and records that it does not. */
export async function stopRunningServer(folder: string): Promise<void> {
  const record = await readServerRecord(folder);
  if (!record?.process) return;
  await stopServer(record.process.pid, record.process.mark);
  await writeServerRecord(folder, { ...record, process: null });
}

const serverRecordSchema = z.object({
  // Accepts this machine alone, since what lies in a folder may be forged.
  address: z.string().regex(/^127\.0\.0\.1:\d{1,5}$/),
  uiAddress: z.string().regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/),
  /** Number and mark (`processMark`) of the server's process; null before it is started and after it was stopped. */
  process: z.object({ pid: z.int().positive(), mark: z.string() }).nullable(),
  startedAt: z.iso.datetime(),
});

/** Content of `server.json`: the folder's running embedded server, or the last, whose ports are used again. */
export type ServerRecord = z.infer<typeof serverRecordSchema>;

export async function readServerRecord(folder: string): Promise<ServerRecord | null> {
  try {
    return serverRecordSchema.parse(JSON.parse(await readFile(join(folder, 'server.json'), 'utf8')));
  } catch (error) {
    const isUnreadable = error instanceof z.ZodError || (error as Error).name === 'SyntaxError';
    if (isUnreadable || codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces the record of a folder in one step: a reader sees the old or the new one, never half of it. */
export async function writeServerRecord(folder: string, record: ServerRecord): Promise<void> {
  const path = join(folder, 'server.json');
  await writeFile(`${path}.new`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Notes which process the folder's server is, with what distinguishes it from a later one of the same number. */
export async function recordProcess(
  folder: string,
  record: ServerRecord,
  pid: number,
): Promise<ServerRecord> {
  const mark = await processMark(pid);
  const known = { ...record, process: mark === null ? null : { pid, mark } };
  await writeServerRecord(folder, known);
  return known;
}

const folderUserSchema = z.object({ pid: z.int().positive(), mark: z.string(), stays: z.boolean() });

/** A process that uses a folder's server; `stays` when it runs until it is stopped, as `up` does. */
type FolderUser = z.infer<typeof folderUserSchema>;

/** Enters this process among the users of a folder and returns what takes it out again. */
export async function enterFolder(folder: string, stays: boolean): Promise<() => Promise<void>> {
  const { pid } = process;
  const mark = await processMark(pid);
  if (mark === null) throw new Error(`The operating system does not say when process ${pid} started.`);
  const user: FolderUser = { pid, mark, stays };
  const path = join(folder, 'users', randomUUID());
  await mkdir(join(folder, 'users'), { recursive: true, mode: 0o700 });
  await writeFile(path, JSON.stringify(user), { mode: 0o600 });
  return () => rm(path, { force: true });
}

/** The users of a folder that still run. Entries of others, killed before they could leave, are cleared away. */
export async function liveUsers(folder: string): Promise<FolderUser[]> {
  const names = await readdir(join(folder, 'users')).catch(() => []);
  const users = await Promise.all(names.map((name) => liveUser(join(folder, 'users', name))));
  return users.filter((user) => user !== null);
}

async function liveUser(path: string): Promise<FolderUser | null> {
  try {
    const user = folderUserSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    if (await stillRuns(user.pid, user.mark)) return user;
  } catch {
    // Half written by a process that was killed.
  }
  await rm(path, { force: true });
  return null;
}
