import { ScheduleOverlapPolicy } from '@temporalio/client';
import { findSchedule } from '../../../src/training';
import { readMetrics, readNight } from '../../../src/training/activities/records';
import { removeSchedule, scheduleNights } from '../../../src/training/client';
import { scheduleIdOf } from '../../../src/training/names';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { until } from '../../support/until';

// Nights as a schedule starts them, with the real workflows and activities. They are due a day apart; here, backfills
// start them one after another.

jest.setTimeout(300_000);

let stage: ScriptedTraining;
beforeAll(async () => {
  stage = await openScriptedTraining({ training: { cycles: 1, totalCycles: 3 } });
  const { trainRun, taskQueue } = stage;
  const times = { cron: '30 3 * * *', timeZone: 'UTC', jitterMs: 0, timeLimitMs: 600_000 };
  await scheduleNights(stage.temporal.client, { trainRun, taskQueue, ...times });
});
afterAll(async () => {
  await removeSchedule(stage.temporal.client, stage.trainRun);
  await stage.close();
});

/** Makes the schedule start the nights of these days. */
async function makeUpFor(first: string, last: string): Promise<void> {
  const [start, end] = [new Date(`${first}T00:00:00Z`), new Date(`${last}T12:00:00Z`)];
  const schedule = stage.temporal.client.schedule.getHandle(scheduleIdOf(stage.trainRun));
  await schedule.backfill({ start, end, overlap: ScheduleOverlapPolicy.BUFFER_ALL });
}

/** Waits for the result of the n-th night that the schedule starts, counted from 1. */
async function endOf(number: number): Promise<unknown> {
  const { client } = stage.temporal;
  const schedule = client.schedule.getHandle(scheduleIdOf(stage.trainRun));
  const { info } = await until(
    () => schedule.describe(),
    ({ info: { numActionsTaken } }) => numActionsTaken >= number,
  );
  return client.workflow.getHandle(info.recentActions[number - 1]?.action.workflow.workflowId ?? '').result();
}

test('after a cancelled night the schedule continues, and each night reuses what the previous one left', async () => {
  const { trainRun, policy, providers, store } = stage;
  await stage.whileWorking(async () => {
    const letGo = providers.hold('a');
    await makeUpFor('2026-01-12', '2026-01-12');
    await providers.waitForLog((all) => all.some(({ model }) => model === 'a'));
    await stage.training.cancel(trainRun);
    expect(await endOf(1)).toEqual({ night: '2026-01-12', isSkipped: false, isCancelled: true });
    // A request still open would be answered along with its repetition.
    await providers.waitForLog((all) => all.every(({ outcome }) => outcome !== null));
    letGo();
    const left = { first: 1, done: 0, closedAt: null };
    expect(await readNight(store, trainRun, '2026-01-12')).toMatchObject(left);
    expect(await findSchedule(stage.temporal.client, trainRun)).toMatchObject({ isPaused: false });

    await makeUpFor('2026-01-13', '2026-01-14');
    expect(await endOf(2)).toEqual({ night: '2026-01-13', isSkipped: false, isCancelled: false });
    expect(await endOf(3)).toEqual({ night: '2026-01-14', isSkipped: false, isCancelled: false });
  });
  // The next night reuses the samples of the cancelled one, so only two of three nights sampled.
  const sampled = policy.bodiesTo('/v1/completions').filter(({ temperature }) => temperature === 1);
  expect(sampled).toHaveLength(2);
  expect(await readMetrics(store, trainRun)).toMatchObject([
    { cycle: 1, night: '2026-01-13', checkpoint: `${trainRun}/000001` },
    { cycle: 2, night: '2026-01-14', checkpoint: `${trainRun}/000002` },
  ]);
  expect(await readNight(store, trainRun, '2026-01-14')).toMatchObject({
    begun: { name: '000001' },
    done: 2,
  });
  const answered = providers.log.filter(({ outcome }) => outcome === 'answered');
  const calls = answered.map(({ headers }) => headers['x-client-request-id']);
  expect(calls).toHaveLength(new Set(calls).size);
});
