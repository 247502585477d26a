import { randomUUID } from 'node:crypto';
import {
  bundleWorkflowCode,
  DefaultLogger,
  Worker,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import type { ScheduleRequest } from '../../../src/training';
import { TrainingClient } from '../../../src/training/client/training-client';
import { CHECK_PLACES } from '../../../src/training/names';
import { connect, testTaskQueue, type TestTemporal } from '../../support/temporal';
import type { NightActivities } from './nights';

export type Night = Parameters<NightActivities['spendNight']>[0];

/** A server, a worker whose nights do what the test says, and a client. */
export interface NightStage {
  readonly temporal: TestTemporal;
  readonly client: TrainingClient;
  /** A schedule of a training run of the test's own, due every two seconds. */
  readonly request: ScheduleRequest;
  /** Lets a worker spend nights for as long as `work` takes. */
  whileWorking<T>(spendNight: (night: Night) => Promise<void>, work: () => Promise<T>): Promise<T>;
}

let bundle: Promise<WorkflowBundleWithSourceMap> | undefined;

/** @param address of a server of the test's own */
export async function openNightStage(address?: string, taskQueue = testTaskQueue()): Promise<NightStage> {
  const temporal = await connect(address);
  bundle ??= bundleWorkflowCode({
    workflowsPath: require.resolve('./nights'),
    logger: new DefaultLogger('ERROR'),
  });
  const workflowBundle = await bundle;
  return {
    temporal,
    client: new TrainingClient({ client: temporal.client, taskQueue }),
    request: {
      trainRun: `run-${randomUUID()}`,
      taskQueue,
      // With seconds and years, as Temporal reads seven fields.
      cron: '*/2 * * * * * *',
      timeZone: 'Europe/Berlin',
      jitterMs: 0,
      timeLimitMs: 60_000,
    },
    whileWorking: async (spendNight, work) => {
      const worker = await Worker.create({
        connection: temporal.nativeConnection,
        taskQueue,
        workflowBundle,
        activities: {
          ...({ spendNight } satisfies NightActivities),
          [CHECK_PLACES]: () => Promise.resolve(),
        },
        shutdownForceTime: '1s',
      });
      return worker.runUntil(work);
    },
  };
}
