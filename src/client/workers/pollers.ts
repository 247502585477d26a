import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { hasEnded } from '../../runtime/worker-identity';

/** `TaskQueueType` of Temporal's API. The work of our workers begins with a workflow task, except that of a trainer. */
const QUEUE_TYPES = { workflows: 1, activities: 2 } as const;
export type QueueKind = keyof typeof QUEUE_TYPES;

/** `WorkerVersioningMode` of Temporal's API. Workers without a version name a deployment too, an empty one. */
const VERSIONED = 2;

/** Silence after which a poller counts as gone: a poll that finds nothing ends after a minute, and is repeated. */
const POLL_SECONDS = 70;

type Asking = Pick<Client, 'workflowService' | 'options'>;

/** A worker that polls a task queue. */
interface Poller {
  readonly identity: string;
  /** Null: it is not versioned. */
  readonly version: WorkerDeploymentVersion | null;
}

/** What the server knows of a task queue. */
export interface QueueState {
  readonly pollers: readonly Poller[];
  /** Versions that new runs go to, the current one first; none: they go to workers that are not versioned. */
  readonly receiving: readonly WorkerDeploymentVersion[];
}

/**
 * Reads who polls a task queue, and which version gets its new runs. All times are the server's, which tells no other
 * time than that of the polls: the newest one is taken for now. So the last worker of a queue, if its end cannot be
 * seen from here, counts until the server forgets it after five minutes.
 */
export async function readQueue(
  { workflowService, options }: Asking,
  taskQueue: string,
  kind: QueueKind = 'workflows',
): Promise<QueueState> {
  const { pollers, versioningInfo } = await workflowService.describeTaskQueue({
    namespace: options.namespace,
    taskQueue: { name: taskQueue },
    // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the enum is in a package of the SDK's own
    taskQueueType: QUEUE_TYPES[kind],
  });
  const polls = pollers.map(({ identity, lastAccessTime, deploymentOptions }) => ({
    identity: identity ?? '',
    at: Number(lastAccessTime?.seconds ?? 0),
    version:
      Number(deploymentOptions?.workerVersioningMode) === VERSIONED ? versionIn(deploymentOptions) : null,
  }));
  const now = Math.max(...polls.map(({ at }) => at));
  const { currentDeploymentVersion, rampingDeploymentVersion } = versioningInfo ?? {};
  return {
    pollers: polls.filter(({ identity, at }) => now - at < POLL_SECONDS && !hasEnded(identity)),
    receiving: [currentDeploymentVersion, rampingDeploymentVersion].flatMap((each) => versionIn(each) ?? []),
  };
}

/** Returns whether a worker polls a task queue, as `readQueue` knows it. @param but identity of a worker to leave out */
export async function isPolled(
  client: Asking,
  taskQueue: string,
  kind?: QueueKind,
  but?: string,
): Promise<boolean> {
  return (await readQueue(client, taskQueue, kind)).pollers.some(({ identity }) => identity !== but);
}

export function isPolledBy(
  { pollers }: Pick<QueueState, 'pollers'>,
  { deploymentName, buildId }: WorkerDeploymentVersion,
): boolean {
  return pollers.some(
    ({ version }) => version?.deploymentName === deploymentName && version.buildId === buildId,
  );
}

/** A version as messages of Temporal's API have it. */
interface ToldVersion {
  readonly deploymentName?: string | null;
  readonly buildId?: string | null;
}

/** Returns the version in a message, or null. */
export function versionIn(told: ToldVersion | null | undefined): WorkerDeploymentVersion | null {
  return told?.deploymentName && told.buildId
    ? { deploymentName: told.deploymentName, buildId: told.buildId }
    : null;
}
