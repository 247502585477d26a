import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { resolve } from 'node:path';
import type { AttachOptions, TemporalServer } from './configured-server';
import {
  enterFolder,
  liveUsers,
  readServerRecord,
  recordProcess,
  runningServer,
  type ServerRecord,
  serves,
  stopRunningServer,
  withFolderLock,
  writeServerRecord,
} from './lease';
import { isOwnDatabase } from './own-database';
import { makeOwnFolder } from '../own-folder';
import { reasonOf } from '../reason-of';
import type { Say } from './say';
import { logPath, type ServerStart, spawnServer } from './server-process';
import { findTemporalCli } from './temporal-cli';

/**
 * The one embedded server of a folder: the running one, or a new one (see `lease.ts`). A caller that finds a running
 * server without users has thereby adopted it.
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
    const running = await runningServer(home, namespace);
    if (running && (await liveUsers(home)).length === 0)
      say('Taking over the Temporal server that an earlier command left running.');
    const { record, source } = running
      ? { record: running, source: `the server running in ${folder}` }
      : await startServer(home, namespace, { env, say });
    // Binds a new database to its folder.
    if (isOwn) await isOwnDatabase(home, say);
    if (!running) say(`Started Temporal (${source}); its page is ${record.uiAddress}`);

    const leave = await enterFolder(home, stays);
    let left: Promise<void> | undefined;
    const stop = (): Promise<void> =>
      (left ??= withFolderLock(home, say, async () => {
        await leave();
        if ((await liveUsers(home)).length === 0) await stopRunningServer(home);
      }));
    return {
      address: record.address,
      namespace,
      connection: { address: record.address },
      uiAddress: record.uiAddress,
      embedded: true,
      isOwn,
      source,
      stop,
    };
  });
}

/** Another program may take a port between its choice and its use, but hardly three times in a row. */
const ATTEMPTS = 3;

/** Starts the folder's server, on the ports it had before where they are free. The caller holds the folder's lock. */
export async function startServer(
  folder: string,
  namespace: string,
  setting: { readonly env: NodeJS.ProcessEnv; readonly say: Say; readonly choosePorts?: typeof freePorts },
): Promise<{ readonly record: ServerRecord; readonly source: string }> {
  const { env, say, choosePorts = freePorts } = setting;
  const { path: cli, source } = await findTemporalCli({ env, say });
  const notStarted = (reason: string, options?: ErrorOptions): Error =>
    new Error(`The embedded Temporal server (${cli}, ${source}) did not start: ${reason}`, options);

  const last = await readServerRecord(folder);
  let wishes = [portOf(last?.address), portOf(last?.uiAddress)];
  for (let attempt = 1; ; attempt += 1) {
    const [port = 0, uiPort = 0] = await choosePorts(wishes);
    const outcome = await startOnce({ cli, folder, namespace, port, uiPort, env }).catch((error: unknown) => {
      throw notStarted(reasonOf(error), { cause: error });
    });
    if ('address' in outcome) return { record: outcome, source };

    if (!outcome.portTaken || attempt === ATTEMPTS) {
      throw notStarted(`${explain(outcome)} All that it wrote is in ${logPath(folder)}.`);
    }
    wishes = [null, null];
  }
}

function explain({ reason, portTaken }: StartFailure): string {
  if (portTaken) {
    return (
      `other programs took its ports ${ATTEMPTS} times in a row, last: ${reason}. ` +
      'Try again, or set TEMPORAL_ADDRESS to a server that runs.'
    );
  }
  const remedy = 'Another server has it open: stop that one, or set TEMPORAL_ADDRESS to it.';
  return `it ended at once: ${reason}.${reason.includes('database is locked') ? ` ${remedy}` : ''}`;
}

/** One try: the server that serves, or why its process ended. Nothing of a failed one is left running. */
async function startOnce(start: ServerStart): Promise<ServerRecord | StartFailure> {
  const { folder, namespace, port, uiPort } = start;
  const planned: ServerRecord = {
    address: `127.0.0.1:${port}`,
    uiAddress: `http://127.0.0.1:${uiPort}`,
    process: null,
    startedAt: new Date().toISOString(),
  };
  // Before the start: should we be killed right after it, the next command knows where to ask.
  await writeServerRecord(folder, planned);
  const started = await spawnServer(start);
  const record = await recordProcess(folder, planned, started.pid);
  let isServing = false;
  try {
    isServing = await serves(record, namespace);
  } finally {
    if (!isServing) await stopRunningServer(folder);
  }
  return isServing ? record : readStartFailure(await started.written());
}

function portOf(address: string | undefined): number | null {
  const port = /:(\d+)$/.exec(address ?? '')?.[1];
  return port === undefined ? null : Number(port);
}

interface StartFailure {
  readonly reason: string;
  /** Another program has one of its ports, which it may choose for itself, too: others may be free. */
  readonly portTaken: boolean;
}

/** In the words of Unix and of Windows. */
const PORT_TAKEN =
  /listen tcp \S{1,100}: bind: (?:address already in use|Only one usage of each socket address)/;
const REASON_LENGTH = 300;

/**
 * Finds the one line that matters in what the server wrote until it ended, which may be pages: it wraps an error in
 * what each of its parts was about to build, and follows it with the stacks of all its threads.
 */
export function readStartFailure(log: string): StartFailure {
  const lines = log.trim().split('\n');
  // A port taken for its metrics is only a warning.
  const taken = PORT_TAKEN.exec(lines.filter((line) => !line.includes('level=WARN')).join('\n'));
  if (taken) return { reason: taken[0], portTaken: true };

  const verdict = lines.findLast((line) => /^(?:Error|panic): /.test(line)) ?? lines.at(-1) ?? '';
  // Errors of Go end with their cause.
  const reason = verdict.length > REASON_LENGTH ? `… ${verdict.slice(-REASON_LENGTH)}` : verdict;
  return { reason: reason || 'it wrote nothing', portTaken: false };
}

/**
 * One free TCP port of 127.0.0.1 for each wish: the wished one if it is free, else any other.
 *
 * All are held until the last is found, so that no two are the same. (The package `get-port` refuses what it gave out in
 * the last 15 s, so that a server started again would lose its ports.)
 */
export async function freePorts(wishes: readonly (number | null)[]): Promise<number[]> {
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
