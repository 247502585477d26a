import { ApplicationFailure } from '@temporalio/client';
import { readCycleGroups, readMetrics, readTrainRun } from '../../../src/training/client';
import { UPDATE } from '../../../src/training/names';
import type { TrainerActivities } from '../../../src/training/trainer-contract';
import { startImpatientServer } from '../../support/impatient-server';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { standInTrainer } from '../../support/stand-in-trainer';
import { until } from '../../support/until';

jest.setTimeout(300_000);

const DATE = '2026-01-10';
const NEXT = '2026-01-11';
const AHEAD = { cycles: 3, staleness: 1 } as const;

let stage: ScriptedTraining;
afterEach(() => stage.close());

const train = (date = DATE) => stage.train(date);

/** Returns the checkpoints from which training plans were sampled, in the order of the requests. */
function writers(): string[] {
  const asked = stage.policy.bodiesTo('/v1/completions').filter(({ temperature }) => temperature === 1);
  return asked.map(({ model }) => String(model).replace(`${stage.trainRun}-`, ''));
}

const LAGGING = ['base', 'base', '000001'];

/** Delays the update of a cycle until the given work is done. */
function duringUpdate(cycle: number, work: () => Promise<unknown>): void {
  const update = stage.trainer[UPDATE];
  stage.trainer[UPDATE] = async (request) => {
    if (request.cycle === cycle) await work();
    return update(request);
  };
}

const asked = (count: number) =>
  until(
    () => stage.training.progress(stage.trainRun).then(writers),
    ({ length }) => length === count,
  );

test('the next cycle samples plans from the previous checkpoint while the trainer makes the new one', async () => {
  stage = await openScriptedTraining({ training: AHEAD });
  // Each update waits for the next cycle's samples, so the test would hang without sampling ahead.
  duringUpdate(1, () => asked(2));
  duringUpdate(2, () => asked(3));
  await stage.whileWorking(() => train());
  expect(writers()).toEqual(LAGGING);
  expect(await readMetrics(stage.store, stage.trainRun)).toMatchObject(
    [1, 2, 3].map((cycle) => ({ checkpoint: `${stage.trainRun}/00000${cycle}`, draws: 1 })),
  );
});

test.each([
  ['pauses, then stops', () => stage.training.pause(stage.trainRun)],
  ['takes the money away', () => stage.training.setBudget(stage.trainRun, { costUsd: 0 })],
])("a user who %s before the next cycle's rollouts begin pays for none of them", async (_, say) => {
  stage = await openScriptedTraining({ training: AHEAD });
  const letGo = stage.providers.hold('a');
  await stage.whileWorking(async () => {
    await stage.training.start({ trainRun: stage.trainRun, date: DATE });
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    await say();
    letGo();
    await until(
      () => stage.training.progress(stage.trainRun),
      (progress) => progress?.done === 1,
    );
    await stage.training.stop(stage.trainRun);
    expect(await stage.result()).toMatchObject({ status: 'done', done: 1 });
  });
  expect(writers()).toEqual(['base']);
});

test('a night stopped meanwhile still learns from what was bought ahead, and buys no more', async () => {
  stage = await openScriptedTraining({ training: AHEAD });
  duringUpdate(1, async () => {
    await asked(2);
    await stage.training.stop(stage.trainRun);
  });
  await stage.whileWorking(async () => {
    expect(await train()).toMatchObject({ status: 'done', done: 2 });
    expect(writers()).toEqual(['base', 'base']);
    // No writer is kept: the next night samples from the checkpoint that it starts with.
    expect(await readTrainRun(stage.store, stage.trainRun)).not.toHaveProperty('writer');
  });
});

test.each([DATE, NEXT])(
  'an interrupted night that continues on %s trains as if it had not been interrupted',
  async (date) => {
    stage = await openScriptedTraining({ training: AHEAD });
    duringUpdate(2, async () => {
      await asked(3);
      throw ApplicationFailure.nonRetryable('the power went', 'Trainer.Failed');
    });
    await stage.whileWorking(async () => {
      await expect(train()).rejects.toThrow();
      expect(await readTrainRun(stage.store, stage.trainRun)).toMatchObject({
        done: 1,
        writer: { name: 'base' },
      });
      const whole: TrainerActivities = standInTrainer((model) => stage.policy.known.add(model));
      Object.assign(stage.trainer, whole);
      await train(date);
    });
    for (const [cycle, writer] of [
      [2, 'base'],
      [3, '000001'],
    ] as const) {
      const [group] = await readCycleGroups(stage.store, stage.trainRun, cycle);
      expect(group?.checkpoint).toBe(`${stage.trainRun}/${writer}`);
    }
    // Nothing was sampled twice.
    expect(writers().slice(0, 3)).toEqual(LAGGING);
  },
);

test('a night that continues as new because of a long history samples from the same checkpoints', async () => {
  const server = await startImpatientServer(60);
  stage = await openScriptedTraining({ training: AHEAD, address: server.address });
  await stage.whileWorking(() => train());
  expect(writers()).toEqual(LAGGING);
  await stage.close();
  await server.stop();
  stage = await openScriptedTraining();
});
