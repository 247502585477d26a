import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { durationMs } from '../config/duration';
import { configuredServer, type TemporalServer } from '../local/configured-server';
import { embeddedServer } from '../local/embedded-server';
import { liveUsers, readServerRecord } from '../local/lease';
import { DEFAULT_TASK_QUEUE } from '../protocol/names';
import type { TrainableConfig } from '../training/config/schema';
import { UsageError } from './exit-code';
import { FOLDER } from './settings';
import { say } from './terminal';

/** What a server must be able to do for a command. */
export interface ServerDemands {
  /** The command runs until it is stopped, so that others may rely on its server. */
  readonly stays?: boolean;
  /** The option that needs the server after the command has ended, e.g. `--detach`. */
  readonly outliving?: string;
  /** The command is about a run that the server must know. */
  readonly used?: boolean;
  /** It must be one that Temporal's environment configuration names. */
  readonly elsewhere?: boolean;
}

/** The configured server, else the folder's own. @throws UsageError where none can do what the command needs */
export async function attachServer(
  config: TrainableConfig,
  { stays, outliving, used, elsewhere }: ServerDemands = {},
): Promise<TemporalServer> {
  const options = { folder: FOLDER, namespace: config.temporal.namespace, say };
  const configured = await configuredServer(options);
  if (configured !== null) return configured;
  const folder = resolve(FOLDER);
  if (elsewhere === true) {
    throw new UsageError(
      'there is no Temporal server to work for: set TEMPORAL_ADDRESS to one that runs, ' +
        'or use "temporal-conductor up" for one of this folder\'s own',
    );
  }
  if (used === true && (await readServerRecord(folder)) === null) {
    throw new UsageError(
      'no run was ever started in this folder: go to the folder where it was, or set TEMPORAL_ADDRESS',
    );
  }
  if (outliving !== undefined && !(await liveUsers(folder)).some((user) => user.stays)) {
    throw new UsageError(
      `${outliving} needs a Temporal server that goes on after this command: ` +
        'start "temporal-conductor up" in this folder, or set TEMPORAL_ADDRESS to a server that runs',
    );
  }
  return embeddedServer({ ...options, stays });
}

/** With this beside the embedded server, a run goes on some 8 s after its worker was killed. */
const HEARTBEAT = '5s';

/**
 * The configuration as it holds on this server. Beside the embedded one, a lost worker is noticed within seconds, and
 * a file that is not the folder's own gets a task queue of its own: two commands with different pools may share the
 * server, and neither may make the other's calls.
 */
export function fitToServer(
  { embedded }: Pick<TemporalServer, 'embedded'>,
  config: TrainableConfig,
  named = process.env.CONDUCTOR_CONFIG,
): TrainableConfig {
  if (!embedded) return config;
  const { taskQueue, heartbeat } = config.temporal;
  const isFoldersOwn = named === undefined || resolve(named) === resolve('conductor.yaml');
  const isChosen = taskQueue !== DEFAULT_TASK_QUEUE;
  const temporal = {
    ...config.temporal,
    taskQueue: isFoldersOwn || isChosen ? taskQueue : `${taskQueue}-${digestOf(resolve(named))}`,
    heartbeat: durationMs(heartbeat) > durationMs(HEARTBEAT) ? HEARTBEAT : heartbeat,
  };
  return { ...config, temporal };
}

function digestOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 8);
}
