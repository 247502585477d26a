import { createHash } from 'node:crypto';
import {
  type Client,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
} from '@temporalio/client';
import { ActivityFailure } from '@temporalio/common';
import { RefusedError } from '../../client/steer';
import type { CheckpointRef } from '../ids';
import type { ExportInput, WarmStartInput } from '../inputs';
import { EXPORT_WORKFLOW, WARM_START_WORKFLOW } from '../names';
import type { ExportResult } from '../trainer-contract';

export interface TrainerJob<Result> {
  /** Workflow id. */
  readonly id: string;
  /** @throws RefusedError with the trainer's own words where it failed */
  result(): Promise<Result>;
}

/** Has the trainer make a first checkpoint of examples. */
export function beginWarmStart(
  client: Client,
  taskQueue: string,
  input: WarmStartInput,
): Promise<TrainerJob<CheckpointRef>> {
  const { trainRun, name } = input.warmStart;
  return begin(client, taskQueue, WARM_START_WORKFLOW, `warm-start-${trainRun}-${name}`, input);
}

/** Has the trainer write a checkpoint as a model of its own. */
export function beginExport(
  client: Client,
  taskQueue: string,
  input: ExportInput,
): Promise<TrainerJob<ExportResult>> {
  const { checkpoint, directory } = input;
  const place = createHash('sha256').update(directory).digest('hex').slice(0, 8);
  const id = `export-${checkpoint.trainRun}-${checkpoint.name}-${place}`;
  return begin(client, taskQueue, EXPORT_WORKFLOW, id, input);
}

/** Joins the same job where it is under way. */
async function begin<Result>(
  client: Client,
  taskQueue: string,
  workflow: string,
  workflowId: string,
  input: WarmStartInput | ExportInput,
): Promise<TrainerJob<Result>> {
  const handle: WorkflowHandle = await client.workflow.start(workflow, {
    workflowId,
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
  });
  return {
    id: workflowId,
    result: async () => {
      try {
        return (await handle.result()) as Result;
      } catch (error) {
        if (!(error instanceof WorkflowFailedError)) throw error;
        const reason = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
        throw new RefusedError(reason?.message ?? error.message, { cause: error });
      }
    },
  };
}
