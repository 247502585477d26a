import type { Client } from '@temporalio/client';
import { hasEnded } from '../runtime/worker-identity';

/** `TaskQueueType` of Temporal's API. The work of our workers begins with a workflow task, except that of a trainer. */
const QUEUE_TYPES = { workflows: 1, activities: 2 } as const;

/** Silence after which a poller counts as gone: a poll that finds nothing ends after a minute, and is repeated. */
const POLL_SECONDS = 70;

/**
 * Returns whether the server knows a worker that polls a task queue. All times are the server's, which tells no other
 * time than that of the polls: the newest one is taken for now. So the last worker of a queue, if its end cannot be
 * seen from here, counts until the server forgets it after five minutes. @param but identity of a worker to leave out
 */
export async function isPolled(
  { workflowService, options }: Pick<Client, 'workflowService' | 'options'>,
  taskQueue: string,
  kind: keyof typeof QUEUE_TYPES = 'workflows',
  but?: string,
): Promise<boolean> {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name: taskQueue },
    // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the enum is in a package of the SDK's own
    taskQueueType: QUEUE_TYPES[kind],
  });
  const polls = pollers.map(({ identity, lastAccessTime }) => ({
    identity: identity ?? '',
    at: Number(lastAccessTime?.seconds ?? 0),
  }));
  const now = Math.max(...polls.map(({ at }) => at));
  return polls.some(({ identity, at }) => now - at < POLL_SECONDS && identity !== but && !hasEnded(identity));
}
