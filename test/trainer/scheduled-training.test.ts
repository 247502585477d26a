import { ScheduleOverlapPolicy } from '@temporalio/client';
import { SMALL_WORLD } from '../../examples/learn/world/world';
import { readNight } from '../../src/training/activities/records';
import { readMetrics } from '../../src/training/client/read-runs';
import { findSchedule, removeSchedule, scheduleNights } from '../../src/training/client/schedule';
import { samplesKey } from '../../src/training/keys';
import { scheduleIdOf } from '../../src/training/night-ids';
import { until } from '../support/until';
import { openTrainingStage, type TrainingStage } from './support/training-stage';

// Nights on the whole stack, trainer and policy server included, as a schedule begins them. They are due a day apart, and
// made up for here one after the other.

jest.setTimeout(300_000);

let stage: TrainingStage;
beforeAll(async () => {
  stage = await openTrainingStage({
    world: SMALL_WORLD,
    seed: 1,
    warmStartSteps: 40,
    training: {
      run: 'scheduled',
      questions: 2,
      groupSize: 4,
      cycles: 1,
      totalCycles: 3,
      gate: { samples: 1 },
    },
  });
  const { trainRun, taskQueue } = stage;
  const times = { cron: '30 3 * * *', timeZone: 'UTC', jitterMs: 0, timeLimitMs: 600_000 };
  await scheduleNights(stage.temporal.client, { trainRun, taskQueue, ...times });
});
afterAll(async () => {
  await removeSchedule(stage.temporal.client, stage.trainRun);
  await stage.close();
});

const schedule = () => stage.temporal.client.schedule.getHandle(scheduleIdOf(stage.trainRun));
const night = (date: string) => readNight(stage.store, stage.trainRun, date);
const cycles = () => readMetrics(stage.store, stage.trainRun);

/** Lets the schedule start the nights of these days. */
async function makeUpFor(first: string, last: string): Promise<void> {
  await schedule().backfill({
    start: new Date(`${first}T00:00:00Z`),
    end: new Date(`${last}T12:00:00Z`),
    overlap: ScheduleOverlapPolicy.BUFFER_ALL,
  });
}

/** What the n-th night that the schedule started came to, from 1. */
async function outcomeOf(number: number): Promise<unknown> {
  const { info } = await until(
    () => schedule().describe(),
    ({ info: { numActionsTaken } }) => numActionsTaken >= number,
  );
  const { workflowId = '' } = info.recentActions[number - 1]?.action.workflow ?? {};
  return stage.temporal.client.workflow.getHandle(workflowId).result();
}

test('two nights of a schedule, of which the second goes on from where the first one came to', async () => {
  await stage.whileWorking(async () => {
    await makeUpFor('2026-01-10', '2026-01-11');
    expect(await outcomeOf(1)).toEqual({ night: '2026-01-10', isSkipped: false, isCancelled: false });
    expect(await outcomeOf(2)).toEqual({ night: '2026-01-11', isSkipped: false, isCancelled: false });
  });
  expect(await cycles()).toMatchObject([
    { cycle: 1, night: '2026-01-10', checkpoint: 'scheduled/000001' },
    { cycle: 2, night: '2026-01-11', checkpoint: 'scheduled/000002' },
  ]);
  expect(await night('2026-01-11')).toMatchObject({ begun: { name: '000001' }, done: 2 });
});

test('a night that is ended at once: the schedule goes on, and the next night with what it left', async () => {
  const { log } = stage.providers;
  const before = log.length;
  const plans = samplesKey({
    purpose: 'training',
    trainRun: stage.trainRun,
    cycle: 3,
    draw: 0,
    round: 0,
    checkpoint: { trainRun: stage.trainRun, name: '000002' },
  });
  await stage.whileWorking(async () => {
    const letGo = stage.providers.hold('critic');
    await makeUpFor('2026-01-12', '2026-01-12');
    await stage.providers.waitForLog((all) => isHalfAnswered(all.slice(before)));
    const sampled = await stage.store.stat(plans);
    await stage.training.cancel(stage.trainRun);
    expect(await outcomeOf(3)).toEqual({ night: '2026-01-12', isSkipped: false, isCancelled: true });
    letGo();
    expect(await night('2026-01-12')).toMatchObject({ first: 3, done: 2, closedAt: null });
    expect(await findSchedule(stage.temporal.client, stage.trainRun)).toMatchObject({ isPaused: false });

    await makeUpFor('2026-01-13', '2026-01-13');
    expect(await outcomeOf(4)).toEqual({ night: '2026-01-13', isSkipped: false, isCancelled: false });
    expect(sampled).not.toBeNull();
    expect(await stage.store.stat(plans)).toEqual(sampled);
  });
  expect((await cycles()).slice(2)).toMatchObject([
    { cycle: 3, night: '2026-01-13', checkpoint: 'scheduled/000003' },
  ]);
  const answered = log.slice(before).filter(({ outcome }) => outcome === 'answered');
  const calls = answered.map(({ headers }) => headers['x-client-request-id']);
  expect(calls).toHaveLength(new Set(calls).size);
});

/** Some calls of a cycle were answered, and the critic's were not. */
function isHalfAnswered(
  records: readonly { readonly model: string | null; readonly outcome: unknown }[],
): boolean {
  return (
    records.some(({ model }) => model === 'critic') && records.some(({ outcome }) => outcome === 'answered')
  );
}
