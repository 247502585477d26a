import { type ScheduleDescription, ScheduleOverlapPolicy } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { msToTs, tsToMs } from '@temporalio/common/lib/time';
import { findSchedule, removeSchedule, scheduleNights } from '../../../src/training/client';
import { nightDate, nightWorkflowId, scheduleIdOf } from '../../../src/training/names';
import { until } from '../../support/until';
import { type NightStage, NightWatch, openNightStage } from './night-stage';

const DAY_MS = 24 * 60 * 60 * 1000;

let stage: NightStage;

beforeEach(async () => {
  stage = await openNightStage();
});

afterEach(async () => {
  await removeSchedule(stage.temporal.client, stage.request.trainRun);
  await stage.temporal.close();
});

test('the schedule starts a night when it is due and none is running, at lower priority than interactive solves', async () => {
  const watch = new NightWatch();
  const release = watch.hold();
  await stage.whileWorking(watch.spendNight, async () => {
    await schedule();
    await until(description, ({ info }) => info.numActionsSkippedOverlap >= 2);
    expect(watch.nights).toHaveLength(1);
    release();
    await watch.saw(2);
  });

  const { trainRun, timeZone } = stage.request;
  const today = nightDate(new Date(), timeZone);
  const tonight = { trainRun, timeZone, date: today, priority: 5 };
  expect(watch.nights.slice(0, 2)).toEqual([tonight, tonight]);
});

test('a scheduled night is skipped while a night started by hand runs, and the schedule continues', async () => {
  const watch = new NightWatch();
  const release = watch.hold();
  const { trainRun } = stage.request;
  await stage.whileWorking(watch.spendNight, async () => {
    await stage.client.start({ trainRun, date: '2026-01-01' });
    await watch.saw(1);
    await schedule();
    const { info } = await until(description, ({ info: { recentActions } }) => recentActions.length >= 2);
    const { workflowId = '', firstExecutionRunId } = info.recentActions[0]?.action.workflow ?? {};
    const handle = stage.temporal.client.workflow.getHandle(workflowId, firstExecutionRunId);
    expect(await handle.result()).toMatchObject({ isSkipped: true });
    expect(watch.nights.map(({ date }) => date)).toEqual(['2026-01-01']);
    await expect(stage.client.start({ trainRun })).rejects.toThrow(/a night of .* is under way already/);
    release();
    await watch.saw(2);
    expect((await description()).state.paused).toBe(false);
  });
});

test.each([
  {
    what: 'makes up for the nights that it names, in order',
    schedule: { cron: '30 3 * * *' },
    from: '2026-10-10T00:00:00Z',
    until: '2026-10-13T00:00:00Z',
    nights: ['2026-10-10', '2026-10-11', '2026-10-12'],
  },
  {
    what: 'has an hour that comes twice be the same night',
    schedule: { cron: '30 1 * * *', timeZone: 'America/New_York' },
    from: '2026-10-31T12:00:00Z',
    until: '2026-11-02T20:00:00Z',
    nights: ['2026-11-01', '2026-11-01', '2026-11-02'],
  },
])('a backfill $what', async ({ schedule: change, from, until: end, nights }) => {
  const watch = new NightWatch();
  await stage.whileWorking(watch.spendNight, async () => {
    await schedule(change);
    const handle = stage.temporal.client.schedule.getHandle(scheduleIdOf(stage.request.trainRun));
    const overlap = ScheduleOverlapPolicy.BUFFER_ALL;
    await handle.backfill({ start: new Date(from), end: new Date(end), overlap });
    await watch.saw(3);
  });
  expect(watch.nights.map(({ date }) => date)).toEqual(nights);
});

// Asks the server for the due times around clock changes. East of Greenwich the schedule is due twice in the hour
// before the repeated one; that is harmless, since all times of a day are the same night.
test.each([
  { timeZone: 'Europe/Berlin', cron: '30 2 * * *', skipped: ['2027-03-28'] },
  { timeZone: 'America/New_York', cron: '30 1 * * *', skipped: [] },
  { timeZone: 'America/New_York', cron: '30 2 * * *', skipped: ['2027-03-14'] },
  { timeZone: 'Europe/Berlin', cron: '30 1 * * *', skipped: [] },
])(
  '$cron in $timeZone: every day has one night, except for skipped ones',
  async ({ timeZone, cron, skipped }) => {
    const from = Date.parse('2026-10-01T00:00:00Z');
    const until = Date.parse('2027-04-30T00:00:00Z');
    await schedule({ cron, timeZone });

    const due = await matchingTimes(from, until);
    const nights = new Set(due.map((time) => nightDate(time, timeZone)));
    const days = Array.from({ length: 208 }, (_, day) =>
      nightDate(new Date(from + (day + 1.5) * DAY_MS), timeZone),
    );
    expect(days.filter((day) => !nights.has(day))).toEqual(skipped);
  },
);

test('a failed night pauses the schedule, with a note that says what failed', async () => {
  const failing = (): Promise<void> =>
    Promise.reject(ApplicationFailure.nonRetryable('the trainer is broken', 'Trainer.StepFailed'));
  await stage.whileWorking(failing, async () => {
    await schedule();
    const { info } = await until(description, ({ state }) => state.paused);
    expect(info.numActionsTaken).toBe(1);
  });
  const { trainRun } = stage.request;
  const note = expect.stringMatching(/night \d{4}-\d\d-\d\d failed: the trainer is broken/) as unknown;
  expect(await findSchedule(stage.temporal.client, trainRun)).toMatchObject({ isPaused: true, note });
  // Changing the times does not resume a schedule that a failure paused.
  await schedule({ cron: '0 4 * * *' });
  expect(await findSchedule(stage.temporal.client, trainRun)).toMatchObject({ isPaused: true });
});

test('a stuck night is ended at its time limit, and a later one can start', async () => {
  const watch = new NightWatch();
  const release = watch.hold();
  const { trainRun } = stage.request;
  await stage.whileWorking(watch.spendNight, async () => {
    await schedule({ timeLimitMs: 7_000 });
    await until(description, ({ state }) => state.paused);
    const { status } = await until(
      () => stage.temporal.client.workflow.getHandle(nightWorkflowId(trainRun)).describe(),
      ({ status: { name } }) => name !== 'RUNNING',
    );
    expect(status.name).toBe('TERMINATED');
    expect(watch.nights).toHaveLength(1);
    release();
    await stage.client.start({ trainRun });
    await watch.saw(2);
  });
});

function schedule(change: Partial<NightStage['request']> = {}): ReturnType<typeof scheduleNights> {
  return scheduleNights(stage.temporal.client, { ...stage.request, ...change });
}

async function matchingTimes(from: number, until: number): Promise<Date[]> {
  const { client } = stage.temporal;
  const { startTime } = await client.workflowService.listScheduleMatchingTimes({
    namespace: client.options.namespace,
    scheduleId: scheduleIdOf(stage.request.trainRun),
    startTime: msToTs(from),
    endTime: msToTs(until),
  });
  return startTime.map((time) => new Date(tsToMs(time)));
}

function description(): Promise<ScheduleDescription> {
  return stage.temporal.client.schedule.getHandle(scheduleIdOf(stage.request.trainRun)).describe();
}
