import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { TrainableConfig as Config } from '../training/config/schema';
import { durationMs } from '../config/settings';
import { type AttachOptions, configuredServer, type TemporalServer } from '../local/configured-server';
import { embeddedServer } from '../local/embedded-server';
import { liveUsers, readServerRecord } from '../local/lease';
import { DEFAULT_TASK_QUEUE } from '../protocol/names';
import { UsageError } from './exit-code';
import { say } from './terminal';

/** Keeps what the embedded server leaves behind: database, logs, records. */
export const FOLDER = '.conductor';

/** What a server must be able to do for a command. */
export interface ServerDemands {
  /** The command runs until it is told to stop, so that others may rely on its server. */
  readonly stays?: boolean;
  /** What needs the server to be still there when the command has ended, e.g. `--detach`. */
  readonly outliving?: string;
  /** The server must have been used before: the command is about a run that it knows. */
  readonly used?: boolean;
}

/**
 * The server of Temporal's environment configuration, else the folder's own.
 *
 * @throws UsageError, with nothing started, where the command would take the only server away with it
 */
export async function attachServer(config: Config, demands: ServerDemands = {}): Promise<TemporalServer> {
  const options: AttachOptions = { folder: FOLDER, namespace: config.temporal.namespace, say };
  const configured = await configuredServer(options);
  if (configured !== null) return configured;
  if (demands.used === true && (await readServerRecord(resolve(FOLDER))) === null) {
    throw new UsageError(
      'no run was ever started in this folder: go to the folder where it was, or set TEMPORAL_ADDRESS',
    );
  }
  if (demands.outliving !== undefined && !(await someoneStays())) {
    throw new UsageError(
      `${demands.outliving} needs a Temporal server that goes on after this command: ` +
        'start "temporal-conductor up" in this folder, or set TEMPORAL_ADDRESS to a server that runs',
    );
  }
  return embeddedServer({ ...options, stays: demands.stays ?? false });
}

/**
 * The server of Temporal's environment configuration and no other.
 *
 * @throws UsageError where none is named or none answers
 */
export async function attachConfiguredServer(config: Config): Promise<TemporalServer> {
  const options = { folder: FOLDER, namespace: config.temporal.namespace, say };
  const server = await configuredServer(options);
  if (server !== null) return server;
  throw new UsageError(
    'there is no Temporal server to work for: set TEMPORAL_ADDRESS to one that runs, ' +
      'or use "temporal-conductor up" for one of this folder\'s own',
  );
}

async function someoneStays(): Promise<boolean> {
  const users = await liveUsers(resolve(FOLDER));
  return users.some((user) => user.stays);
}

/** With this beside the embedded server, a run goes on some 8 s after its worker was killed. */
const HEARTBEAT = '5s';

/**
 * The configuration as it holds on this server. Beside the embedded one, a lost worker is noticed within seconds, and
 * a file that is not the folder's own gets a task queue of its own: two commands with different pools may share the
 * server, and neither shall do the other's calls.
 *
 * @param named the file that `--config` names, if any
 */
export function fitToServer(
  { embedded }: Pick<TemporalServer, 'embedded'>,
  config: Config,
  named = process.env.CONDUCTOR_CONFIG,
): Config {
  if (!embedded) return config;
  const { taskQueue, heartbeat } = config.temporal;
  const soon = durationMs(heartbeat) > durationMs(HEARTBEAT) ? HEARTBEAT : heartbeat;
  const isFoldersOwn = named === undefined || resolve(named) === resolve('conductor.yaml');
  const isChosen = taskQueue !== DEFAULT_TASK_QUEUE;
  const queue = isFoldersOwn || isChosen ? taskQueue : `${taskQueue}-${digestOf(resolve(named))}`;
  return { ...config, temporal: { ...config.temporal, taskQueue: queue, heartbeat: soon } };
}

function digestOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 8);
}
