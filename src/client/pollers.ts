import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';

/** `TaskQueueType` of Temporal's API: whatever a worker does begins with a workflow task, but for a trainer. */
const QUEUE_TYPES = { workflows: 1, activities: 2 } as const;

/** A poll that finds nothing ends after a minute, and is made anew. */
const POLL_MS = 70_000;

/** Whether a worker polls a task queue, as far as the server knows. @param but one that does not count */
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

/** The server remembers a poller for minutes after its end; of the processes of this machine, we know better. */
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
