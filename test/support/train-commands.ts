import { ScheduleOverlapPolicy } from '@temporalio/client';
import { readMetrics, readNight } from '../../src/training/activities/records';
import { removeSchedule, scheduleNights } from '../../src/training/client/schedule';
import { scheduleIdOf } from '../../src/training/names';
import type { CycleMetrics, NightRecord } from '../../src/training/records';
import { type Ended, runCommand, type RunningCommand, startCommand } from '../cli/command';
import { makeFolder } from '../cli/folder';
import { TEST_KEY } from './search-for-secrets';
import type { Stage } from './stage';
import { until } from './until';

/** A stage with a training run, whoever its trainer is. */
interface Trained extends Stage {
  readonly trainRun: string;
}

/** A folder with the stage's configuration, to run `temporal-conductor train` in. */
export interface TrainFolder {
  readonly path: string;
  train(...args: string[]): Promise<Ended>;
  start(...args: string[]): RunningCommand;
  remove(): Promise<void>;
}

export async function openTrainFolder({ config, taskQueue, temporal }: Trained): Promise<TrainFolder> {
  const folder = await makeFolder();
  await folder.write('conductor.yaml', { ...config, temporal: { ...config.temporal, taskQueue } });
  const setting = { cwd: folder.path, env: { TEMPORAL_ADDRESS: temporal.address, STAGE_KEY: TEST_KEY } };
  return {
    path: folder.path,
    train: (...args) => runCommand(['train', ...args], setting),
    start: (...args) => startCommand(['train', ...args], setting),
    remove: () => folder.remove(),
  };
}

/** A schedule whose nights are due a day apart, and made up for one after the other. */
export interface ScheduledNights {
  /** Lets the schedule start the nights of these days. */
  makeUpFor(first: string, last: string): Promise<void>;
  /** Result of the n-th night that the schedule started, from 1. */
  outcomeOf(number: number): Promise<unknown>;
  night(date: string): Promise<NightRecord | null>;
  cycles(): Promise<readonly CycleMetrics[]>;
  remove(): Promise<boolean>;
}

export async function scheduleStage({
  temporal,
  trainRun,
  taskQueue,
  store,
}: Trained): Promise<ScheduledNights> {
  const { client } = temporal;
  const times = { cron: '30 3 * * *', timeZone: 'UTC', jitterMs: 0, timeLimitMs: 600_000 };
  await scheduleNights(client, { trainRun, taskQueue, ...times });
  const schedule = client.schedule.getHandle(scheduleIdOf(trainRun));
  return {
    makeUpFor: (first, last) =>
      schedule.backfill({
        start: new Date(`${first}T00:00:00Z`),
        end: new Date(`${last}T12:00:00Z`),
        overlap: ScheduleOverlapPolicy.BUFFER_ALL,
      }),
    outcomeOf: async (number) => {
      const { info } = await until(
        () => schedule.describe(),
        ({ info: { numActionsTaken } }) => numActionsTaken >= number,
      );
      const { workflowId = '' } = info.recentActions[number - 1]?.action.workflow ?? {};
      return client.workflow.getHandle(workflowId).result() as Promise<unknown>;
    },
    night: (date) => readNight(store, trainRun, date),
    cycles: () => readMetrics(store, trainRun),
    remove: () => removeSchedule(client, trainRun),
  };
}
