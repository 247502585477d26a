import { holdersOf } from './file-holders';
import { processMark, stillRuns } from './process-mark';
import { reasonOf } from './reason-of';
import { waitUntilServing } from './server-health';
import { databasePath, stopServer } from './server-process';
import { readServerRecord, writeServerRecord, type ServerRecord } from './server-record';

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
