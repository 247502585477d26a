/**
 * The lease on a folder's server: a second server on the same SQLite file would break both.
 *
 * - `lock` is held while the server is found, started or stopped. Functions that change anything expect their caller to
 *   hold it (`withFolderLock`).
 * - `server.json` says which process the server is, or was last, and on which ports.
 * - `users/` has an entry for each process that uses the server. No one owns it: the last to leave stops it, and a
 *   process that was killed no longer counts.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { z } from 'zod';
import { holdersOf, processMark, stillRuns } from './processes';
import { codeOf, reasonOf, type Say } from './reason-of';
import { databasePath, stopServer, waitUntilServing } from './server-process';

/** The lock of a killed process is taken over after this long. The shortest that the library allows. */
const STALE_MS = 5_000;

/**
 * Runs `action` while no other process of this machine runs one on the same folder.
 * It waits for its turn as long as the other lives, and says so once, since the other may be downloading.
 */
export async function withFolderLock<T>(folder: string, say: Say, action: () => Promise<T>): Promise<T> {
  let lose: (error: Error) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => (lose = reject));
  // It may be lost when no one listens any more.
  lost.catch(() => undefined);

  const options = { lockfilePath: join(folder, 'lock'), stale: STALE_MS, onCompromised: lose };
  const shortly = { retries: 20, minTimeout: 50, maxTimeout: 100 };
  const release = await lock(folder, { ...options, retries: shortly }).catch((error: unknown) => {
    if (codeOf(error) !== 'ELOCKED') throw error;
    say('Another command is preparing the embedded server of this folder: waiting for it.');
    return lock(folder, { ...options, retries: { forever: true, minTimeout: 100, maxTimeout: 250 } });
  });
  try {
    return await Promise.race([action(), lost]);
  } finally {
    await release();
  }
}

/** A machine that is busy with something else may need so long to start it or to let it answer. */
const PATIENCE_MS = 20_000;
/** A server that was just started by a command since killed is up by then. */
const CLAIM_MS = 3_000;

/** The folder's server if it runs, also when no one recorded its process; null when it is to be started. */
export async function runningServer(folder: string, namespace: string): Promise<ServerRecord | null> {
  const record = await readServerRecord(folder);
  if (record !== null && (await serves(record, namespace))) return record;

  const [pid] = await holdersOf(databasePath(folder));
  if (pid === undefined) return null;
  // A process that is not recorded has the database open: ours, whose starter was killed, or a stranger's.
  if (record?.process === null && (await answers(record.address, namespace))) {
    return recordProcess(folder, record, pid);
  }
  throw new Error(
    `${databasePath(folder)} is in use by process ${pid}, which was not started by a command in this folder. ` +
      `A second server on the same file would break both: stop that one ("kill ${pid}"), ` +
      'or set TEMPORAL_ADDRESS to it.',
  );
}

function answers(address: string, namespace: string): Promise<boolean> {
  const isAlive = (): Promise<boolean> => Promise.resolve(true);
  return waitUntilServing(address, namespace, { isAlive, patienceMs: CLAIM_MS }).catch(() => false);
}

/** Whether the recorded server serves, for which it gets some time; false when its process does not run or ends. */
export async function serves({ address, process }: ServerRecord, namespace: string): Promise<boolean> {
  if (process === null) return false;
  const { pid, mark } = process;
  const isAlive = (): Promise<boolean> => stillRuns(pid, mark);
  if (!(await isAlive())) return false;
  try {
    return await waitUntilServing(address, namespace, { isAlive, patienceMs: PATIENCE_MS });
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
  /** `127.0.0.1:<port>` of the gRPC service. */
  address: z.string(),
  /** URL of Temporal's web page. */
  uiAddress: z.string(),
  /** Number and mark (`processMark`) of the server's process; null before it is started and after it was stopped. */
  process: z.object({ pid: z.int().positive(), mark: z.string() }).nullable(),
  startedAt: z.iso.datetime(),
});

/** What `server.json` says of a folder's embedded server: the running one, or the last, whose ports are used again. */
export type ServerRecord = z.infer<typeof serverRecordSchema>;

/** The record of a folder; null when there is none that can be read. */
export async function readServerRecord(folder: string): Promise<ServerRecord | null> {
  try {
    const parsed = serverRecordSchema.safeParse(JSON.parse(await readFile(recordPath(folder), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || (error instanceof Error && error.name === 'SyntaxError')) return null;
    throw error;
  }
}

/** Replaces the record of a folder in one step: a reader sees the old or the new one, never half of it. */
export async function writeServerRecord(folder: string, record: ServerRecord): Promise<void> {
  const unfinished = `${recordPath(folder)}.new`;
  await writeFile(unfinished, `${JSON.stringify(record, null, 2)}\n`);
  await rename(unfinished, recordPath(folder));
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

function recordPath(folder: string): string {
  return join(folder, 'server.json');
}

const folderUserSchema = z.object({ pid: z.int().positive(), mark: z.string(), stays: z.boolean() });

/** A process that uses a folder's server; `stays` when it runs until it is stopped, as `up` does. */
export type FolderUser = z.infer<typeof folderUserSchema>;

/** Enters this process among the users of a folder and returns what takes it out again. */
export async function enterFolder(folder: string, stays: boolean): Promise<() => Promise<void>> {
  const { pid } = process;
  const mark = await processMark(pid);
  if (mark === null) throw new Error(`The operating system does not say when process ${pid} began.`);
  const user: FolderUser = { pid, mark, stays };
  const path = join(usersFolder(folder), randomUUID());
  await mkdir(usersFolder(folder), { recursive: true });
  await writeFile(path, JSON.stringify(user));
  return () => rm(path, { force: true });
}

/** The users of a folder that still run. Entries of others, killed before they could leave, are cleared away. */
export async function liveUsers(folder: string): Promise<FolderUser[]> {
  const names = await readdir(usersFolder(folder)).catch(() => []);
  const users = await Promise.all(names.map((name) => liveUser(join(usersFolder(folder), name))));
  return users.filter((user) => user !== null);
}

async function liveUser(path: string): Promise<FolderUser | null> {
  try {
    const user = folderUserSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    if (await stillRuns(user.pid, user.mark)) return user;
  } catch {
    // Half written by a process that was killed: it is not among the living.
  }
  await rm(path, { force: true });
  return null;
}

function usersFolder(folder: string): string {
  return join(folder, 'users');
}
