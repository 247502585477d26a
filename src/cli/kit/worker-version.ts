import type { WorkerDeploymentVersion } from '@temporalio/common';
import { UsageError } from '../../errors';

/**
 * What becomes of the runs of a versioned worker when another version is made current: `pinned` runs end where they
 * began; those of `auto-upgrade` go on there with their next task, as the replay rule of docs/versioning.md allows.
 */
export const VERSIONINGS = ['pinned', 'auto-upgrade'] as const;
export type Versioning = (typeof VERSIONINGS)[number];

const BEHAVIORS = { pinned: 'PINNED', 'auto-upgrade': 'AUTO_UPGRADE' } as const;

/** Variables that name a worker's version, as Temporal's controller for Kubernetes sets them. */
const VARIABLES = ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'] as const;

/** Options of the SDK for a versioned worker. */
interface VersionedWorker {
  readonly version: WorkerDeploymentVersion;
  readonly useWorkerVersioning: true;
  readonly defaultVersioningBehavior: (typeof BEHAVIORS)[Versioning];
}

/** Returns the version that the environment gives every worker of this process; null: none. @throws UsageError */
export function workerVersion(env: NodeJS.ProcessEnv, versioning?: Versioning): VersionedWorker | null {
  const [deploymentName, buildId] = VARIABLES.map((name) => readName(env, name));
  if (deploymentName === undefined && buildId === undefined) {
    if (versioning === undefined) return null;
    throw new UsageError(
      `--versioning ${versioning} is for a worker with a version, and this one has none: set ${VARIABLES.join(' and ')}`,
    );
  }
  if (deploymentName === undefined || buildId === undefined) {
    const [set, missing] = deploymentName === undefined ? [...VARIABLES].reverse() : VARIABLES;
    throw new UsageError(
      `${set} is set to ${JSON.stringify(deploymentName ?? buildId)}, and ${missing} is not: set both, or neither`,
    );
  }
  return {
    version: { deploymentName, buildId },
    useWorkerVersioning: true,
    defaultVersioningBehavior: BEHAVIORS[versioning ?? 'pinned'],
  };
}

export function describeVersion({ version, defaultVersioningBehavior }: VersionedWorker): string {
  const stays = defaultVersioningBehavior === BEHAVIORS.pinned ? 'stay on it' : 'follow the current one';
  return `${version.buildId} of ${version.deploymentName}, whose runs ${stays}; which one is current: temporal-conductor doctor`;
}

/** Names that Temporal takes. Polls of a worker with another one would be refused for ever, and nothing would say so. */
const NAMES = {
  TEMPORAL_DEPLOYMENT_NAME: /^(?!__)[^.:\p{Cc}]{1,200}$/u,
  TEMPORAL_WORKER_BUILD_ID: /^(?!__)\P{Cc}{1,200}$/u,
} as const;

function readName(env: NodeJS.ProcessEnv, variable: (typeof VARIABLES)[number]): string | undefined {
  const name = env[variable];
  // Containers pass unset variables as empty ones.
  if (name === undefined || name === '') return undefined;
  if (NAMES[variable].test(name)) return name;
  const shown = JSON.stringify(name.slice(0, 100));
  const expected = variable === 'TEMPORAL_DEPLOYMENT_NAME' ? ', without "." and ":"' : '';
  throw new UsageError(
    `${variable} is ${shown}, which Temporal does not take: expected 1 to 200 characters${expected}, not beginning with "__"`,
  );
}
