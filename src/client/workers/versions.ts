import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { quoted } from '../find-runs';
import { unlessNotFound } from '../server-errors';
import { isPolledBy, type QueueKind, type QueueState, readQueue, versionIn } from './pollers';

// Builds of workers, as Temporal versions them (https://docs.temporal.io/worker-versioning).

export function nameOfVersion({ deploymentName, buildId }: WorkerDeploymentVersion): string {
  return `version ${buildId} of ${deploymentName}`;
}

/** Returns a command of Temporal's about a version, e.g. `set-current-version`, which has new runs go to it. */
export function commandOnVersion(
  command: string,
  { deploymentName, buildId }: WorkerDeploymentVersion,
): string {
  const named = `--deployment-name ${inShell(deploymentName)} --build-id ${inShell(buildId)}`;
  return `temporal worker deployment ${command} ${named}`;
}

/** Returns a word as a shell takes it. */
function inShell(word: string): string {
  return /^[\w./+:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns why runs would wait in a task queue that workers poll: no worker of the version that they go to does; null if
 * one does. @param pinnedTo version of a run that stays on it; null: new runs
 */
export function whyRunsWait(
  taskQueue: string,
  queue: QueueState,
  pinnedTo: WorkerDeploymentVersion | null = null,
): string | null {
  const wanted = pinnedTo === null ? queue.receiving : [pinnedTo];
  const lacking = wanted.find((version) => !isPolledBy(queue, version));
  if (lacking !== undefined) {
    const { deploymentName, buildId } = lacking;
    return (
      `${pinnedTo === null ? 'new runs go' : 'it stays'} on ${nameOfVersion(lacking)}, no worker of which polls task ` +
      `queue ${taskQueue}: start one with TEMPORAL_DEPLOYMENT_NAME=${inShell(deploymentName)} ` +
      `TEMPORAL_WORKER_BUILD_ID=${inShell(buildId)}`
    );
  }
  const versions = queue.pollers.map(({ version }) => version);
  const first = versions.find((version) => version !== null);
  if (wanted.length > 0 || first === undefined || versions.includes(null)) return null;
  return (
    `new runs wait: every worker that polls task queue ${taskQueue} has a version, and none is current; make one ` +
    `current: ${commandOnVersion('set-current-version', first)}`
  );
}

/** `VersioningBehavior` of Temporal's API. */
const PINNED = 1;

/** Returns the version that a run stays on until its end, or null. */
export function pinOf({ raw }: WorkflowExecutionDescription): WorkerDeploymentVersion | null {
  const { behavior, deploymentVersion } = raw.workflowExecutionInfo?.versioningInfo ?? {};
  return Number(behavior) === PINNED ? versionIn(deploymentVersion) : null;
}

/** A version with what is left for it to do. */
export interface DeployedVersion extends WorkerDeploymentVersion {
  /** Whether it has ever been given runs. */
  readonly isNew: boolean;
  readonly openRuns: number;
  /** Task queues that its workers have polled, in order. */
  readonly queues: readonly VersionQueue[];
}

export interface VersionQueue {
  readonly name: string;
  readonly kind: QueueKind;
  /** Whether a worker of the version polls it now. */
  readonly isPolled: boolean;
}

/** `WorkerDeploymentVersionStatus` of Temporal's API. */
const STATUSES = { inactive: 1, drained: 5 } as const;

/** Reads the versions of a deployment, except those that have drained; none if the server knows no such deployment. */
export async function readVersions(client: Client, deploymentName: string): Promise<DeployedVersion[]> {
  const { workflowService, options } = client;
  const { namespace } = options;
  const found = await unlessNotFound(workflowService.describeWorkerDeployment({ namespace, deploymentName }));
  const summaries = found?.workerDeploymentInfo?.versionSummaries ?? [];
  const versions = summaries.flatMap(({ deploymentVersion, status }) => {
    const version = versionIn(deploymentVersion);
    return version === null || Number(status) === STATUSES.drained
      ? []
      : [{ version, status: Number(status) }];
  });
  return Promise.all(
    versions.map(async ({ version, status }) => ({
      ...version,
      isNew: status === STATUSES.inactive,
      openRuns: await countPinned(client, version),
      queues: await readQueuesOf(client, version),
    })),
  );
}

async function countPinned(
  { workflow }: Client,
  { deploymentName, buildId }: WorkerDeploymentVersion,
): Promise<number> {
  const version = quoted(`${deploymentName}:${buildId}`);
  const pinned = `TemporalWorkerDeploymentVersion = ${version} AND TemporalWorkflowVersioningBehavior = 'Pinned'`;
  return (await workflow.count(`${pinned} AND ExecutionStatus = 'Running'`)).count;
}

async function readQueuesOf(client: Client, version: WorkerDeploymentVersion): Promise<VersionQueue[]> {
  const { workflowService, options } = client;
  const { namespace } = options;
  const asked = { namespace, deploymentVersion: version };
  const { versionTaskQueues } = await workflowService.describeWorkerDeploymentVersion(asked);
  const kinds = new Map<number, QueueKind>([
    [1, 'workflows'],
    [2, 'activities'],
  ]);
  const queues = versionTaskQueues.map(async ({ name, type }) => {
    const kind = kinds.get(Number(type));
    if (!name || kind === undefined) return [];
    return [{ name, kind, isPolled: isPolledBy(await readQueue(client, name, kind), version) }];
  });
  return (await Promise.all(queues)).flat();
}
