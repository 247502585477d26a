import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { startProgram } from '../start-program';
import { stillRuns } from './processes';

/** Settings of a start of the server. `folder` is absolute and takes the database and the log. */
export interface ServerStart {
  readonly cli: string;
  readonly folder: string;
  readonly namespace: string;
  readonly port: number;
  readonly uiPort: number;
  readonly env: NodeJS.ProcessEnv;
}

export function databasePath(folder: string): string {
  return join(folder, 'temporal.db');
}

export function logPath(folder: string): string {
  return join(folder, 'server.log');
}

/**
 * Starts the server in a process group of its own, so that Ctrl-C in a terminal reaches only the command, which
 * then decides; it outlives its starter. Its environment holds no key: it calls no model.
 *
 * @returns its process, and a function that reads what it wrote so far, to see why it ended
 */
export async function spawnServer(
  start: ServerStart,
): Promise<{ readonly pid: number; written(): Promise<string> }> {
  const path = logPath(start.folder);
  const log = await open(path, 'a', 0o600);
  try {
    const { size: logStart } = await log.stat();
    const child = privately(() =>
      startProgram(start.cli, serverArguments(start), {
        cwd: start.folder,
        detached: true,
        windowsHide: true,
        stdio: ['ignore', log.fd, log.fd],
        env: start.env,
      }),
    );
    await once(child, 'spawn');
    child.unref();
    if (child.pid === undefined) throw new Error(`${start.cli} was started without a process number`);
    const written = async (): Promise<string> => (await readFile(path)).subarray(logStart).toString('utf8');
    return { pid: child.pid, written };
  } finally {
    await log.close();
  }
}

/** Files that a process started by `start` makes are for their owner alone. */
function privately<T>(start: () => T): T {
  const umask = process.umask(0o077);
  try {
    return start();
  } finally {
    process.umask(umask);
  }
}

/** Room for a busy machine; an idle one needs milliseconds. */
const STOP_MS = 15_000;

/**
 * Kills the server and waits until it is gone; its database stays. Nothing is lost by a kill: every change is committed
 * before it is answered. Asked to stop, it would hold its callers for a second more, since it drains its own workers'
 * long polls (server 1.32, `service/frontend/service.go`), and would keep no more on disk.
 */
export async function stopServer(pid: number, mark: string): Promise<void> {
  if (await stillRuns(pid, mark)) process.kill(pid, 'SIGKILL');
  const deadline = Date.now() + STOP_MS;
  while (await stillRuns(pid, mark)) {
    if (Date.now() > deadline) {
      throw new Error(
        `The Temporal server (process ${pid}) does not end, though killed: see "ps -p ${pid}".`,
      );
    }
    await wait(5);
  }
}

function serverArguments({ folder, namespace, port, uiPort }: ServerStart): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
    ...['--namespace', namespace, '--db-filename', databasePath(folder)],
    // A commit is then safe from a killed process, not from a loss of power, and costs no wait for the disk.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    // The operating system's lock on the file, held until the process ends: no second server opens it, whoever starts it.
    ...['--sqlite-pragma', 'locking_mode=EXCLUSIVE'],
    // One partition a task queue, not four: priorities order the calls of a partition, and one machine needs no more.
    ...['--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1'],
    ...['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
    ...['--log-level', 'warn'],
  ];
}

const ANSWER_MS = 3_000;
const PAUSE_MS = 50;

/**
 * Waits until the server at `address` (`host:port`, no TLS) answers for `namespace`, which takes its database, too.
 * True when it does, false when its process has ended instead; rejects with the last failure after `patienceMs`.
 */
export async function waitUntilServing(
  address: string,
  namespace: string,
  isAlive: () => Promise<boolean>,
  patienceMs: number,
): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      await askFor(address, namespace);
      return true;
    } catch (error) {
      if (!(await isAlive())) return false;
      if (Date.now() > deadline) throw error;
    }
    await wait(PAUSE_MS);
  }
}

async function askFor(address: string, namespace: string): Promise<void> {
  // gRPC backs off for a second after a refused connection, so the port is tried first.
  const [host, port] = address.split(':');
  const socket = connectSocket({ host, port: Number(port), timeout: ANSWER_MS });
  socket.once('timeout', () => socket.destroy(new Error(`${address} does not answer`)));
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
  const connection = await Connection.connect({ address, connectTimeout: ANSWER_MS });
  try {
    await connection.withDeadline(Date.now() + ANSWER_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } finally {
    await connection.close();
  }
}
