import { SMALL_WORLD } from '../../examples/learn/world/world';
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
