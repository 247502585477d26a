import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { DefaultLogger, type LogEntry, NativeConnection, Runtime } from '@temporalio/worker';
import { reasonOf } from '../errors';
import { remedyOfTls, type Say, type TemporalServer } from '../local/configured-server';
import { makeOwnFolder } from '../own-folder';
import { harmless } from './terminal';
import { FOLDER } from './trust';

/**
 * Connects through Temporal's native core, which workers need. It loads more slowly than a client's own connection, but
 * needs less CPU per call. @param log takes the SDK's warnings; default: a file, since the terminal has the live view
 */
export async function connectNatively(
  server: TemporalServer,
  log: Say = sayToFile,
): Promise<NativeConnection> {
  installRuntime(log);
  return NativeConnection.connect(server.connection).catch((error: unknown) => {
    const reason = reasonOf(error);
    // The native core looks for certificates in other places than Node, so it may fail where a client succeeds.
    const remedy =
      remedyOfTls(reason) ?? 'Other commands reach it: see whether it has just gone away, and try again';
    const what = `this process cannot connect to Temporal at ${server.address}`;
    throw new Error(`${what}: ${reason}. ${remedy}`, { cause: error });
  });
}

/** Must precede all other use of Temporal's native core. Signals are ours: a command must stop more than its worker. */
function installRuntime(log: Say): void {
  Runtime.install({
    logger: new DefaultLogger('INFO', (entry) => {
      // At level INFO, logs only our workflows: one line for each run that ends.
      if (entry.level !== 'INFO' || entry.meta?.sdkComponent === 'workflow') log(describeEntry(entry));
    }),
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
    shutdownSignals: [],
  });
}

function sayToFile(line: string): void {
  makeOwnFolder(FOLDER);
  appendFileSync(join(FOLDER, 'worker.log'), `${harmless(line)}\n`, { mode: 0o600 });
}

const FACTS = ['workflowId', 'activityType', 'attempt', 'taskQueue'] as const;

function describeEntry({ level, message, timestampNanos, meta = {} }: LogEntry): string {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  const facts = FACTS.flatMap((fact) => (meta[fact] === undefined ? [] : [`${fact}=${String(meta[fact])}`]));
  const reason = meta.error instanceof Error ? `: ${meta.error.message}` : '';
  return [time, level, `${message}${reason}`, ...facts].join(' ');
}
