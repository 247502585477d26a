import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  type ScheduleHandle,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { TrainInput } from '../contract';
import { NIGHTLY_WORKFLOW, nightlyWorkflowId, scheduleIdOf } from '../names';

export interface ScheduleRequest {
  readonly trainRun: string;
  readonly taskQueue: string;
  readonly cron: string;
  /** Time zone of the cron expression and of the nights' dates, e.g. `Europe/Berlin`. */
  readonly timeZone: string;
  /** A night begins up to this much later, so that the nights of many runs do not all begin at once. */
  readonly jitterMs: number;
  /** Time after which the server ends a night: a stuck one must not block all later ones. */
  readonly timeLimitMs: number;
  /** How late a night may still begin if no server ran at its time, at least 10 s. @default an hour */
  readonly catchupMs?: number;
  readonly cycles?: number;
}

export interface NightSchedule {
  readonly id: string;
  readonly timeZone: string;
  readonly isPaused: boolean;
  readonly note: string | null;
  readonly next: readonly Date[];
}

const HOUR = 60 * 60 * 1000;

/**
 * Creates or changes the schedule of a training run; a paused one stays paused. A night that is due while another is
 * under way is skipped, and one that fails pauses the schedule: a broken trainer must not spend night after night.
 */
export async function scheduleNights(client: Client, request: ScheduleRequest): Promise<NightSchedule> {
  const scheduleId = scheduleIdOf(request.trainRun);
  const options = optionsOf(request);
  const handle = client.schedule.getHandle(scheduleId);
  try {
    await client.schedule.create({ scheduleId, ...options });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await handle.update(({ state }) => ({ ...options, state }));
  }
  return describe(await handle.describe());
}

export function findSchedule(client: Client, trainRun: string): Promise<NightSchedule | null> {
  return unlessMissing(client, trainRun, async (handle) => describe(await handle.describe()));
}

/** Removes the schedule; a night under way goes on. Returns false if there was none. */
export async function removeSchedule(client: Client, trainRun: string): Promise<boolean> {
  return (await unlessMissing(client, trainRun, (handle) => handle.delete())) !== null;
}

/** Pauses or resumes the schedule, if there is one. */
export async function holdSchedule(client: Client, trainRun: string, isHeld: boolean): Promise<void> {
  await unlessMissing(client, trainRun, (handle) =>
    isHeld
      ? handle.pause('paused by "train schedule --pause"')
      : handle.unpause('resumed by "train schedule --resume"'),
  );
}

function optionsOf({ trainRun, cycles, timeZone, ...request }: ScheduleRequest) {
  const input: TrainInput = { trainRun, timeZone, cycles };
  return {
    spec: { cronExpressions: [request.cron], timezone: timeZone, jitter: request.jitterMs },
    action: {
      type: 'startWorkflow' as const,
      workflowType: NIGHTLY_WORKFLOW,
      workflowId: nightlyWorkflowId(trainRun),
      taskQueue: request.taskQueue,
      args: [input],
      workflowExecutionTimeout: request.timeLimitMs,
      staticSummary: `a night of ${trainRun}`,
    },
    policies: {
      overlap: ScheduleOverlapPolicy.SKIP,
      catchupWindow: request.catchupMs ?? HOUR,
      pauseOnFailure: true,
    },
  };
}

function describe({ scheduleId, spec, state, info }: ScheduleDescription): NightSchedule {
  return {
    id: scheduleId,
    timeZone: spec.timezone ?? 'UTC',
    isPaused: state.paused,
    note: state.note === '' ? null : (state.note ?? null),
    next: info.nextActionTimes,
  };
}

async function unlessMissing<Value>(
  client: Client,
  trainRun: string,
  ask: (handle: ScheduleHandle) => Promise<Value>,
): Promise<Value | null> {
  try {
    return await ask(client.schedule.getHandle(scheduleIdOf(trainRun)));
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}
