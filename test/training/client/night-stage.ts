import { randomUUID } from 'node:crypto';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import type { ScheduleRequest } from '../../../src/training';
import { TrainingClient } from '../../../src/training/client';
import { CHECK_PLACES } from '../../../src/training/names';
import { connect, testTaskQueue, type TestTemporal } from '../../support/temporal';
import { TestWorker } from '../../support/test-worker';
import type { NightActivities } from './nights';

type Night = Parameters<NightActivities['spendNight']>[0];

/** A server, a client, and a worker whose nights do what the test says. */
export interface NightStage {
  readonly temporal: TestTemporal;
  readonly client: TrainingClient;
  /** Schedule of the test's own training run, due every two seconds. */
  readonly request: ScheduleRequest;
  /** Runs a worker for nights as long as `work` takes. */
  whileWorking<T>(spendNight: (night: Night) => Promise<void>, work: () => Promise<T>): Promise<T>;
}

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/** @param address address of the test's own server, if any */
export async function openNightStage(address?: string, taskQueue = testTaskQueue()): Promise<NightStage> {
  const temporal = await connect(address);
  const logger = new DefaultLogger('ERROR');
  bundle ??= bundleWorkflowCode({ workflowsPath: require.resolve('./nights'), logger });
  const workflowBundle = await bundle;
  return {
    temporal,
    client: new TrainingClient({ client: temporal.client, taskQueue }),
    request: {
      trainRun: `run-${randomUUID()}`,
      taskQueue,
      // Temporal reads seven fields as a cron expression with seconds and years.
      cron: '*/2 * * * * * *',
      timeZone: 'Europe/Berlin',
      jitterMs: 0,
      timeLimitMs: 60_000,
    },
    whileWorking: async (spendNight, work) => {
      const worker = await TestWorker.create({
        connection: temporal.nativeConnection,
        taskQueue,
        workflowBundle,
        activities: { spendNight, [CHECK_PLACES]: () => Promise.resolve() },
        shutdownForceTime: '1s',
      });
      return worker.runUntil(work);
    },
  };
}

/** Records every night that a worker runs, and can hold nights open. */
export class NightWatch {
  readonly nights: Night[] = [];
  private held: Promise<void> = Promise.resolve();
  private readonly waiting: { readonly count: number; readonly tell: () => void }[] = [];

  /** Holds nights open from now on, until the returned function is called. */
  hold(): () => void {
    let release = (): void => undefined;
    this.held = new Promise((resolve) => {
      release = resolve;
    });
    return () => {
      release();
    };
  }

  /** Waits until that many nights have begun. */
  saw(count: number): Promise<void> {
    return new Promise((tell) => {
      this.waiting.push({ count, tell });
      this.tellAll();
    });
  }

  readonly spendNight = async (night: Night): Promise<void> => {
    this.nights.push(night);
    this.tellAll();
    await this.held;
  };

  private tellAll(): void {
    for (const { count, tell } of this.waiting) if (this.nights.length >= count) tell();
  }
}
