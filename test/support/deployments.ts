import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { until } from './until';

/** Has new runs go to a version, as `temporal worker deployment set-current-version` does, once the server knows it. */
export async function promote(client: Client, version: WorkerDeploymentVersion): Promise<void> {
  const { workflowService, options } = client;
  const asked = { namespace: options.namespace, ...version };
  await until(
    () =>
      workflowService.setWorkerDeploymentCurrentVersion(asked).then(
        () => true,
        () => false,
      ),
    (isDone) => isDone,
  );
}

/** Returns the build that a run ended on, or is on. */
export async function buildOf(client: Client, id: string): Promise<string | null | undefined> {
  const { raw } = await client.workflow.getHandle(id).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}
