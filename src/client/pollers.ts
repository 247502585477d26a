import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';

/** `TaskQueueType` of Temporal's API. The work of our workers begins with a workflow task, except that of a trainer. */
const QUEUE_TYPES = { workflows: 1, activities: 2 } as const;

/** Age from which a poller counts as gone: a poll that finds nothing ends after a minute, and is repeated. */
const POLL_MS = 70_000;

/** Returns whether the server knows a worker that polls a task queue. @param but identity of a worker to leave out */
export async function isPolled(
  { workflowService, options }: Client,
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
  return pollers.some(({ identity, lastAccessTime }) => {
    const ageMs = Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000;
    return ageMs < POLL_MS && identity !== but && !isDead(identity ?? '');
  });
}

/** Returns whether a poller was a process of this machine that has ended; the server remembers it for minutes. */
function isDead(identity: string): boolean {
  const [, pid, host] = /^(\d+)@(.*)$/.exec(identity) ?? [];
  if (pid === undefined || host !== hostname()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
