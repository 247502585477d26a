import type { Client } from '@temporalio/client';
import {
  commandOnVersion,
  type DeployedVersion,
  nameOfVersion,
  readQueue,
  readVersions,
  whyRunsWait,
} from '../../client';
import type { TrainableConfig } from '../../training/config';
import { counted } from '../../trace/describe';
import { broken, fine, type Looked, note } from '../kit/finding';

/** Finds what would keep runs of versioned workers waiting, although nothing fails. Reports nothing without versions. */
export async function checkVersions(
  client: Client,
  { temporal: { taskQueue } }: Pick<TrainableConfig, 'temporal'>,
  env: NodeJS.ProcessEnv,
): Promise<Looked[]> {
  const queue = await readQueue(client, taskQueue);
  const named = [...queue.pollers.flatMap(({ version }) => version ?? []), ...queue.receiving];
  const own = env.TEMPORAL_DEPLOYMENT_NAME ? [env.TEMPORAL_DEPLOYMENT_NAME] : [];
  const deployments = new Set([...named.map(({ deploymentName }) => deploymentName), ...own]);
  if (deployments.size === 0) return [];
  const wait = whyRunsWait(taskQueue, queue);
  const [current] = queue.receiving;
  const versions = (await Promise.all([...deployments].map((name) => readVersions(client, name)))).flat();
  const served = versions.find((version) => isSame(version, current));
  return [
    ...(current === undefined ? [] : [fine(`${nameOfVersion(current)} is current`)]),
    ...(wait === null ? [] : [broken(wait)]),
    ...versions.flatMap(findStranded),
    ...(served === undefined
      ? []
      : versions.filter((version) => version.isNew).map((version) => describePromotion(version, served))),
  ];
}

function isSame(one: NamedVersion, other: NamedVersion | undefined): boolean {
  return one.deploymentName === other?.deploymentName && one.buildId === other.buildId;
}

type NamedVersion = Pick<DeployedVersion, 'deploymentName' | 'buildId'>;

/** Finds runs that stay on a version some of whose workers are gone. */
function findStranded(version: DeployedVersion): Looked[] {
  const gone = version.queues.filter(({ isPolled }) => !isPolled).map(({ name }) => name);
  if (version.openRuns === 0 || gone.length === 0) return [];
  return [
    broken(
      `no worker of ${nameOfVersion(version)} polls ${listed(gone)}, and ${counted(version.openRuns, 'open run')} of it ` +
        'would wait there for ever: start its workers again, with the same settings, and keep them until it has drained: ' +
        commandOnVersion('describe-version', version),
    ),
  ];
}

/** Says how a version that has had no runs yet is made current, or what would then be missing. */
function describePromotion(version: DeployedVersion, current: DeployedVersion): Looked {
  const polled = new Set(version.queues.filter(({ isPolled }) => isPolled).map(keyOfQueue));
  const missing = current.queues.filter((queue) => !polled.has(keyOfQueue(queue))).map(({ name }) => name);
  const [name, promotion] = [nameOfVersion(version), commandOnVersion('set-current-version', version)];
  if (missing.length === 0) return fine(`${name} may follow: ${promotion}`);
  return note(
    `${name} must not follow yet: none of its workers polls ${listed(missing)}, as those of the current one do, so calls ` +
      `there would wait; start all its workers with the same settings (queuePerProvider, training.slots), then: ${promotion}`,
  );
}

function keyOfQueue({ name, kind }: DeployedVersion['queues'][number]): string {
  return `${kind} ${name}`;
}

function listed(queues: readonly string[]): string {
  return [...new Set(queues)].sort().join(', ');
}
