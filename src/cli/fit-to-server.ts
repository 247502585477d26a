import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { TemporalServer } from '../local/temporal-server';
import type { Config } from '../pool/config-schema';
import { durationMs } from '../pool/duration';
import { DEFAULT_TASK_QUEUE } from '../protocol/names';

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
