import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { z } from 'zod';
import { holdersOf, processMark, stillRuns } from './processes';
import { codeOf, reasonOf, type Say } from './reason-of';
import { databasePath, stopServer, waitUntilServing } from './server-process';

// Who calls these holds the folder's lock.

/** A machine that is busy with something else may need so long to start it or to let it answer. */
const PATIENCE_MS = 20_000;
/** A server that was just started by a command since killed is up by then. */
const CLAIM_MS = 3_000;

type OwnedProcess = NonNullable<ServerRecord['process']>;

/** The folder's server if it runs, also when nobody recorded its process; null when it is to be started. */
export async function runningServer(folder: string, namespace: string): Promise<ServerRecord | null> {
  const record = await readServerRecord(folder);
  if (record?.process && (await serves(record, namespace, record.process))) return record;

  const [holder] = await holdersOf(databasePath(folder));
  return holder === undefined ? null : claimHolder(folder, namespace, record, holder);
}

/** Stops the folder's server, if it runs, and records that it does not. */
export async function stopRunningServer(folder: string): Promise<void> {
  const record = await readServerRecord(folder);
  if (!record?.process) return;
  await stopServer(record.process.pid, record.process.mark);
  await writeServerRecord(folder, { ...record, process: null });
}

/** A process has the database open and is not the recorded one: ours, whose starter was killed, or a stranger's. */
async function claimHolder(
  folder: string,
  namespace: string,
  record: ServerRecord | null,
  pid: number,
): Promise<ServerRecord> {
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

/** Whether the server serves, for which it gets some time; false when its process does not run or ends meanwhile. */
export async function serves(
  { address }: ServerRecord,
  namespace: string,
  owner: OwnedProcess,
): Promise<boolean> {
  const { pid, mark } = owner;
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

/** Notes which process the folder's server is, with what tells it from a later one of the same number. */
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

/** A process that uses a folder's server; `stays` when it runs until it is told to stop, as `up` does. */
export type FolderUser = z.infer<typeof folderUserSchema>;

/** Enters this process among the users of a folder and returns what takes it out again. */
export async function enterFolder(folder: string, stays: boolean): Promise<() => Promise<void>> {
  const mark = await processMark(process.pid);
  if (mark === null) throw new Error(`The operating system does not tell when process ${process.pid} began.`);
  const user: FolderUser = { pid: process.pid, mark, stays };
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
  const user = await readUser(path);
  if (user !== null && (await stillRuns(user.pid, user.mark))) return user;
  await rm(path, { force: true });
  return null;
}

async function readUser(path: string): Promise<FolderUser | null> {
  try {
    return folderUserSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    // Half written by a process that was killed: it is not among the living.
    return null;
  }
}

function usersFolder(folder: string): string {
  return join(folder, 'users');
}

/** The lock of a killed process is taken over after this long. The shortest that the library allows. */
const STALE_MS = 5_000;

/**
 * Runs `action` while no other process of this machine runs one on the same folder.
 * It waits for its turn as long as the other lives, and says so once, since the other may be downloading.
 */
export async function withFolderLock<T>(folder: string, say: Say, action: () => Promise<T>): Promise<T> {
  let lose: (error: Error) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  // Nobody may be listening any more when it is lost.
  lost.catch(() => undefined);

  const release = await acquire(folder, say, lose);
  try {
    return await Promise.race([action(), lost]);
  } finally {
    await release();
  }
}

async function acquire(
  folder: string,
  say: Say,
  onCompromised: (error: Error) => void,
): Promise<() => Promise<void>> {
  const options = { lockfilePath: join(folder, 'lock'), stale: STALE_MS, onCompromised };
  try {
    return await lock(folder, { ...options, retries: { retries: 20, minTimeout: 50, maxTimeout: 100 } });
  } catch (error) {
    if (codeOf(error) !== 'ELOCKED') throw error;
    say('Another command is preparing the embedded server of this folder: waiting for it.');
    return lock(folder, { ...options, retries: { forever: true, minTimeout: 100, maxTimeout: 250 } });
  }
}

const serverRecordSchema = z.object({
  /** `127.0.0.1:<port>` of the gRPC service. */
  address: z.string(),
  /** URL of Temporal's web page. */
  uiAddress: z.string(),
  /** Number and mark (`process-mark.ts`) of the server's process; null before it is started and after it was stopped. */
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

function recordPath(folder: string): string {
  return join(folder, 'server.json');
}
