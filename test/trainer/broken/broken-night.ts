import { type ScheduleDescription, ScheduleOverlapPolicy, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { holdSchedule } from '../../../src/training/client';
import { scheduleIdOf } from '../../../src/training/names';
import { until } from '../../support/until';
import type { TrainingStage } from '../support/training-stage';

/** A failed night as a person sees it. */
export interface BrokenNight {
  /** Failure type. */
  readonly type: string | null;
  readonly message: string;
  /** Note of the paused schedule. */
  readonly note: string;
}

/**
 * Makes the schedule start the night of a day, and waits until the night's failure has paused the schedule.
 *
 * @param date day of the night; the schedule is due at 03:30 UTC
 */
export async function breakNight({ temporal, trainRun }: TrainingStage, date: string): Promise<BrokenNight> {
  const { client } = temporal;
  const schedule = client.schedule.getHandle(scheduleIdOf(trainRun));
  const look = (): Promise<ScheduleDescription> => schedule.describe();
  await holdSchedule(client, trainRun, false);
  await until(look, ({ state }) => !state.paused);
  await schedule.backfill({
    start: new Date(`${date}T03:00:00Z`),
    end: new Date(`${date}T04:00:00Z`),
    overlap: ScheduleOverlapPolicy.BUFFER_ALL,
  });
  const { state, info } = await until(look, ({ state }) => state.paused);
  const night = info.recentActions.at(-1)?.action.workflow.workflowId ?? '';
  return { ...(await failureOf(client.workflow.getHandle(night).result())), note: state.note ?? '' };
}

async function failureOf(result: Promise<unknown>): Promise<Omit<BrokenNight, 'note'>> {
  try {
    await result;
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : error;
    if (cause instanceof ApplicationFailure) return { type: cause.type ?? null, message: cause.message };
    throw error;
  }
  throw new Error('The schedule is paused, and its last night did not fail.');
}
