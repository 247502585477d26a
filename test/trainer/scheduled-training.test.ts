import { SMALL_WORLD } from '../../examples/learn/world/world';
import { findSchedule } from '../../src/training';
import { samplesKey } from '../../src/training/store-keys';
import { type ScheduledNights, scheduleStage } from '../support/train-commands';
import { openTrainingStage, type TrainingStage } from './support/training-stage';

// Nights on the whole stack, trainer and policy server included, as a schedule begins them. They are due a day apart, and
// made up for here one after the other.

jest.setTimeout(300_000);

let stage: TrainingStage;
let nights: ScheduledNights;
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
  nights = await scheduleStage(stage);
});
afterAll(async () => {
  await nights.remove();
  await stage.close();
});

test('two nights of a schedule, of which the second goes on from where the first one came to', async () => {
  await stage.whileWorking(async () => {
    await nights.makeUpFor('2026-01-10', '2026-01-11');
    expect(await nights.outcomeOf(1)).toEqual({ night: '2026-01-10', isSkipped: false, isCancelled: false });
    expect(await nights.outcomeOf(2)).toEqual({ night: '2026-01-11', isSkipped: false, isCancelled: false });
  });
  expect(await nights.cycles()).toMatchObject([
    { cycle: 1, night: '2026-01-10', checkpoint: 'scheduled/000001' },
    { cycle: 2, night: '2026-01-11', checkpoint: 'scheduled/000002' },
  ]);
  expect(await nights.night('2026-01-11')).toMatchObject({ begun: { name: '000001' }, done: 2 });
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
    await nights.makeUpFor('2026-01-12', '2026-01-12');
    await stage.providers.waitForLog((all) => isHalfAnswered(all.slice(before)));
    const sampled = await stage.store.stat(plans);
    await stage.training.cancel(stage.trainRun);
    expect(await nights.outcomeOf(3)).toEqual({ night: '2026-01-12', isSkipped: false, isCancelled: true });
    letGo();
    expect(await nights.night('2026-01-12')).toMatchObject({ first: 3, done: 2, closedAt: null });
    expect(await findSchedule(stage.temporal.client, stage.trainRun)).toMatchObject({ isPaused: false });

    await nights.makeUpFor('2026-01-13', '2026-01-13');
    expect(await nights.outcomeOf(4)).toEqual({ night: '2026-01-13', isSkipped: false, isCancelled: false });
    expect(sampled).not.toBeNull();
    expect(await stage.store.stat(plans)).toEqual(sampled);
  });
  expect((await nights.cycles()).slice(2)).toMatchObject([
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
