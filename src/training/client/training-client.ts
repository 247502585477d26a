import { hash } from 'node:crypto';
import {
  type Client,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
} from '@temporalio/client';
import { describeRun, RefusedError, signalRun, updateRun } from '../../client';
import { MAX_MESSAGES } from '../../protocol/messages';
import { DEFAULT_TASK_QUEUE } from '../../protocol/names';
import type { NightBudget, NightProgress, TrainInput } from '../contract';
import type { ExportInput, WarmStartInput } from '../inputs';
import * as names from '../names';

export interface TrainingClientOptions {
  readonly client: Client;
  /** @default conductor */
  readonly taskQueue?: string;
}

export type NightRequest = TrainInput & {
  readonly trainRun: string;
  /** Milliseconds after which the server ends the night, whatever it is doing. */
  readonly timeLimitMs?: number;
};

export interface NightHandle {
  readonly id: string;
  readonly runId: string;
  readonly night: string;
}

/** Starts, follows and steers nights, one at a time per training run. @throws RefusedError if there is none */
export class TrainingClient {
  private readonly client: Client;
  private readonly taskQueue: string;

  constructor({ client, taskQueue = DEFAULT_TASK_QUEUE }: TrainingClientOptions) {
    this.client = client;
    this.taskQueue = taskQueue;
  }

  /** Starts a night and returns at once. Throws a RefusedError while another night of the run is under way. */
  async start({ timeLimitMs, ...request }: NightRequest): Promise<NightHandle> {
    const { trainRun, timeZone = 'UTC', date: night = names.nightDate(new Date(), timeZone) } = request;
    const id = names.nightWorkflowId(trainRun);
    try {
      const { firstExecutionRunId } = await this.client.workflow.start(names.TRAIN_WORKFLOW, {
        workflowId: id,
        taskQueue: this.taskQueue,
        args: [{ ...request, date: night } satisfies TrainInput],
        priority: { priorityKey: names.NIGHT_PRIORITY },
        staticSummary: `night ${night} of ${trainRun}`,
        workflowExecutionTimeout: timeLimitMs,
      });
      return { id, runId: firstExecutionRunId, night };
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      throw new RefusedError(
        `a night of training run ${trainRun} is under way already: follow it with "temporal-conductor train status", ` +
          'or end it with "temporal-conductor train stop"',
        { cause: error },
      );
    }
  }

  /** Returns the progress of the night under way; null without one. Throws a RefusedError if no worker answers. */
  async progress(trainRun: string): Promise<NightProgress | null> {
    if (!(await this.isUnderWay(trainRun))) return null;
    try {
      const handle = this.client.workflow.getHandle(names.nightWorkflowId(trainRun));
      return await handle.query<NightProgress>(names.NIGHT_PROGRESS_QUERY);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw new RefusedError(
        `no worker answers for the night of training run ${trainRun}: start a worker with "temporal-conductor worker" or "up"`,
        { cause: error },
      );
    }
  }

  async isUnderWay(trainRun: string): Promise<boolean> {
    return (await describeRun(this.client, names.nightWorkflowId(trainRun)))?.status.name === 'RUNNING';
  }

  pause(trainRun: string): Promise<void> {
    return this.signal(trainRun, names.PAUSE_SIGNAL);
  }

  resume(trainRun: string): Promise<void> {
    return this.signal(trainRun, names.RESUME_SIGNAL);
  }

  /** Ends the night after its current cycle; the gate still judges what was learned. */
  stop(trainRun: string): Promise<void> {
    return this.signal(trainRun, names.STOP_SIGNAL);
  }

  async cancel(trainRun: string): Promise<void> {
    await this.client.workflow.getHandle(await this.idOfNight(trainRun)).cancel();
  }

  async setBudget(trainRun: string, budget: NightBudget): Promise<NightBudget> {
    return updateRun(this.client, await this.idOfNight(trainRun), names.SET_BUDGET_UPDATE, budget);
  }

  private async signal(trainRun: string, name: string): Promise<void> {
    const id = await this.idOfNight(trainRun);
    const { raw } = await this.client.workflow.getHandle(id).describe();
    const firstRunId = raw.workflowExecutionInfo?.firstRunId;
    await signalRun(this.client, id, { name, most: MAX_MESSAGES }, firstRunId);
  }

  private async idOfNight(trainRun: string): Promise<string> {
    if (await this.isUnderWay(trainRun)) return names.nightWorkflowId(trainRun);
    throw new RefusedError(
      `no night of training run ${trainRun} is under way: begin one with "temporal-conductor train start", ` +
        'or see what there is with "temporal-conductor train list"',
    );
  }
}

type At = Required<TrainingClientOptions>;

export function beginWarmStart(at: At, input: WarmStartInput): Promise<WorkflowHandle> {
  const { trainRun, name } = input.warmStart;
  return begin(at, names.WARM_START_WORKFLOW, `warm-start-${trainRun}-${name}`, input);
}

export function beginExport(at: At, input: ExportInput): Promise<WorkflowHandle> {
  const { checkpoint, directory } = input;
  const place = hash('sha256', directory).slice(0, 8);
  return begin(at, names.EXPORT_WORKFLOW, `export-${checkpoint.trainRun}-${checkpoint.name}-${place}`, input);
}

function begin(
  { client, taskQueue }: At,
  workflow: string,
  workflowId: string,
  input: object,
): Promise<WorkflowHandle> {
  const workflowIdConflictPolicy = WorkflowIdConflictPolicy.USE_EXISTING;
  return client.workflow.start(workflow, { workflowId, taskQueue, args: [input], workflowIdConflictPolicy });
}
