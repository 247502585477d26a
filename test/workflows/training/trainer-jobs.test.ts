import { join } from 'node:path';
import { askForWarmStart } from '../../../src/activities/training/first-checkpoint';
import { examplesOfRun } from '../../../src/client/training/examples-of-run';
import {
  beginExport,
  beginWarmStart,
  hasTrainer,
  type TrainerJob,
} from '../../../src/client/training/trainer-jobs';
import { readManifest } from '../../../src/policy/manifests';
import { parseConfig } from '../../../src/pool/load-config';
import { resolveTraining, trainingOf } from '../../../src/pool/resolve-training';
import { SMALL_WORLD } from '../../../src/testing/world';
import { openTrainingStage, type TrainingStage } from '../../support/training-stage';

let stage: TrainingStage;
beforeAll(async () => {
  stage = await openTrainingStage({
    world: SMALL_WORLD,
    seed: 1,
    warmStartSteps: 60,
    training: { questions: 2, groupSize: 4, cycles: 1, totalCycles: 1 },
  });
}, 300_000);
afterAll(() => stage.close());

const done = <T>(begin: () => Promise<TrainerJob<T>>): Promise<T> =>
  stage.whileWorking(async () => (await begin()).result());

test('right plans of a run are learned by another run, whose checkpoint can be sampled and exported', async () => {
  const { store, taskQueue, temporal, trainRun } = stage;
  const { client } = temporal;
  const config = parseConfig(stage.config);
  const settings = resolveTraining(config, { trainRun: 'imitation' });
  const { policy, run, trainer, budget } = settings;
  await stage.whileWorking(async () => {
    const { id } = await stage.training.start({ trainRun, date: '2026-01-10' });
    await client.workflow.getHandle(id).result();
  });

  const asked = { store, workers: run.workers, settings: { ...policy, maxSteps: run.limits.steps } };
  const { examples, unfit } = await examplesOfRun(trainRun, asked);
  expect(examples.length).toBeGreaterThan(0);
  expect(unfit).toBe(0);

  const lesson = { name: 'warm-a', examples, steps: 2, batch: 2, learningRate: 1e-3, warmupSteps: 0 };
  const request = await askForWarmStart(store, trainingOf(config).base, lesson, settings);
  const checkpoint = await done(() => beginWarmStart(client, taskQueue, { ...request, settings }));
  expect(checkpoint).toEqual({ trainRun: 'imitation', name: 'warm-a' });
  expect(await readManifest(store, checkpoint)).toMatchObject({ prompt: 'compact' });

  expect(await hasTrainer(client, trainer.taskQueue)).toBe(true);
  const exported = await done(() =>
    beginExport(client, taskQueue, {
      checkpoint,
      directory: join(stage.folder, 'exported'),
      taskQueue: trainer.taskQueue,
      heartbeatMs: run.heartbeatMs,
      timeoutMs: budget.wallClockMs,
    }),
  );
  expect(exported.files).toEqual(
    expect.arrayContaining([
      'README.md',
      'chat_template.jinja',
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ]),
  );
}, 300_000);

test('what the trainer refuses is told in its own words', async () => {
  const { taskQueue, temporal } = stage;
  const { trainer, run } = resolveTraining(parseConfig(stage.config));
  const refused = done(() =>
    beginExport(temporal.client, taskQueue, {
      checkpoint: { trainRun: 'nobody', name: '000001' },
      directory: join(stage.folder, 'nothing'),
      taskQueue: trainer.taskQueue,
      heartbeatMs: run.heartbeatMs,
      timeoutMs: 60_000,
    }),
  );
  await expect(refused).rejects.toThrow(/nobody\/000001/);
}, 120_000);
