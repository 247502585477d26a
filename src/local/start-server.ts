import { findTemporalCli, type TemporalCli } from './find-temporal-cli';
import { recordProcess, serves, stopRunningServer } from './folder-server';
import { freePorts } from './free-ports';
import { reasonOf } from './reason-of';
import type { Say } from './say';
import { logPath, spawnServer, type ServerStart } from './server-process';
import { readServerRecord, writeServerRecord, type ServerRecord } from './server-record';
import { readStartFailure, type StartFailure } from './start-failure';

/** Between the choice of a port and its use another program may take it, which does not happen often in a row. */
const ATTEMPTS = 3;

/** What a start needs of its command. */
export interface StartSetting {
  readonly env: NodeJS.ProcessEnv;
  readonly say: Say;
  readonly choosePorts?: typeof freePorts;
}

/** Starts the folder's server, on the ports it had before where they are free. The caller holds the folder's lock. */
export async function startServer(
  folder: string,
  namespace: string,
  { env, say, choosePorts = freePorts }: StartSetting,
): Promise<{ readonly record: ServerRecord; readonly source: string }> {
  const cli = await findTemporalCli({ env, say });
  const last = await readServerRecord(folder);
  let wishes = [portOf(last?.address), portOf(last?.uiAddress)];
  for (let attempt = 1; ; attempt += 1) {
    const [port = 0, uiPort = 0] = await choosePorts(wishes);
    const outcome = await startOnce({ cli: cli.path, folder, namespace, port, uiPort, env }).catch(
      (error: unknown) => {
        throw notStarted(cli, reasonOf(error), { cause: error });
      },
    );
    if (!('reason' in outcome)) return { record: outcome, source: cli.source };
    if (!outcome.portTaken || attempt === ATTEMPTS) throw notStarted(cli, adviceOn(outcome, folder));
    wishes = [null, null];
  }
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
  try {
    if (record.process && (await serves(record, namespace, record.process))) return record;
  } catch (error) {
    await stopRunningServer(folder);
    throw error;
  }
  await stopRunningServer(folder);
  return readStartFailure(await started.written());
}

function adviceOn({ reason, portTaken }: StartFailure, folder: string): string {
  const what = portTaken
    ? `other programs took its ports ${ATTEMPTS} times in a row, last: ${reason}. Try again, or set TEMPORAL_ADDRESS to a server that runs`
    : `it ended at once: ${reason}`;
  return `${what}. All that it wrote is in ${logPath(folder)}.`;
}

function notStarted({ path, source }: TemporalCli, reason: string, options?: ErrorOptions): Error {
  return new Error(`The embedded Temporal server (${path}, ${source}) did not start: ${reason}`, options);
}

function portOf(address: string | undefined): number | null {
  const port = /:(\d+)$/.exec(address ?? '')?.[1];
  return port === undefined ? null : Number(port);
}
