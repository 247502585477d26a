import { findSchedule } from '../../../src/training';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { type ScheduledNights, scheduleStage } from '../../support/train-commands';

// Nights as a schedule begins them, with the real workflows and activities. They are due a day apart, and made up for here
// one after the other. With a trainer of Python: test/trainer/scheduled-training.

jest.setTimeout(300_000);

let stage: ScriptedTraining;
let nights: ScheduledNights;
beforeAll(async () => {
  stage = await openScriptedTraining({ training: { cycles: 1, totalCycles: 3 } });
  nights = await scheduleStage(stage);
});
afterAll(async () => {
  await nights.remove();
  await stage.close();
});

test('two nights of a schedule, of which the second goes on from where the first one came to', async () => {
  const { trainRun } = stage;
  await stage.whileWorking(async () => {
    await nights.makeUpFor('2026-01-10', '2026-01-11');
    expect(await nights.outcomeOf(1)).toEqual({ night: '2026-01-10', isSkipped: false, isCancelled: false });
    expect(await nights.outcomeOf(2)).toEqual({ night: '2026-01-11', isSkipped: false, isCancelled: false });
  });
  expect(await nights.cycles()).toMatchObject([
    { cycle: 1, night: '2026-01-10', checkpoint: `${trainRun}/000001` },
    { cycle: 2, night: '2026-01-11', checkpoint: `${trainRun}/000002` },
  ]);
  expect(await nights.night('2026-01-11')).toMatchObject({ begun: { name: '000001' }, done: 2 });
});

test('a night that is ended at once: the schedule goes on, and the next night with what it left', async () => {
  const { trainRun, policy, providers } = stage;
  const before = providers.log.length;
  const sampled = () =>
    policy.bodiesTo('/v1/completions').filter(({ temperature }) => temperature === 1).length;
  const samplings = sampled();
  await stage.whileWorking(async () => {
    const letGo = providers.hold('a');
    await nights.makeUpFor('2026-01-12', '2026-01-12');
    await providers.waitForLog((all) => all.slice(before).some(({ model }) => model === 'a'));
    await stage.training.cancel(trainRun);
    expect(await nights.outcomeOf(3)).toEqual({ night: '2026-01-12', isSkipped: false, isCancelled: true });
    letGo();
    expect(await nights.night('2026-01-12')).toMatchObject({ first: 3, done: 2, closedAt: null });
    expect(await findSchedule(stage.temporal.client, trainRun)).toMatchObject({ isPaused: false });

    await nights.makeUpFor('2026-01-13', '2026-01-13');
    expect(await nights.outcomeOf(4)).toEqual({ night: '2026-01-13', isSkipped: false, isCancelled: false });
  });
  // Samples of the night that was ended serve the next one.
  expect(sampled()).toBe(samplings + 1);
  expect((await nights.cycles()).slice(2)).toMatchObject([
    { cycle: 3, night: '2026-01-13', checkpoint: `${trainRun}/000003` },
  ]);
  const answered = providers.log.slice(before).filter(({ outcome }) => outcome === 'answered');
  const calls = answered.map(({ headers }) => headers['x-client-request-id']);
  expect(calls).toHaveLength(new Set(calls).size);
});
