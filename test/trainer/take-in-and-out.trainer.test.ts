import { join } from 'node:path';
import { SMALL_WORLD } from '../../research/world/world';
import { readCheckpointManifest, readTrainRun } from '../../src/training/client';
import { openTrainFolder, type TrainFolder } from '../support/train-commands';
import { openTrainingStage, type TrainingStage } from './support/training-stage';

let stage: TrainingStage;
let folder: TrainFolder;

beforeAll(async () => {
  stage = await openTrainingStage({
    world: SMALL_WORLD,
    seed: 1,
    warmStartSteps: 60,
    training: { run: 'taken', questions: 2, groupSize: 4, cycles: 1, totalCycles: 1 },
  });
  folder = await openTrainFolder(stage);
  const { temporal, trainRun } = stage;
  await stage.whileWorking(async () => {
    const { id } = await stage.training.start({ trainRun, date: '2026-01-10' });
    await temporal.client.workflow.getHandle(id).result();
  });
}, 600_000);

afterAll(async () => {
  await stage.close();
  await folder.close();
});

test('right plans train another run, whose first night starts from them, and can be exported as a model', async () => {
  const lesson = ['--from-traces', 'taken', '--steps', '2', '--learning-rate', '1e-3', '--batch', '2'];
  const [learned, exported] = await stage.whileWorking(async () => {
    const learned = await folder.train('warm-start', '--run', 'imitation', ...lesson);
    return [learned, await folder.train('export', learned.stdout.trim(), 'exported')];
  });
  expect(learned).toMatchObject({ code: 0 });
  const id = learned.stdout.trim();
  expect(id).toMatch(/^imitation\/warm-[0-9a-f]{8}$/);
  const checkpoint = { trainRun: 'imitation', name: id.slice('imitation/'.length) };
  expect(await readCheckpointManifest(stage.store, checkpoint)).toMatchObject({ prompt: 'compact' });
  expect(await readTrainRun(stage.store, 'imitation')).toMatchObject({ done: 0, checkpoint });

  expect(exported).toMatchObject({ code: 0 });
  const files = ['README.md', 'chat_template.jinja', 'config.json', 'model.safetensors', 'tokenizer.json'];
  expect(exported.stdout.split('\n')).toEqual(
    expect.arrayContaining(files.map((file) => join(folder.path, 'exported', file))),
  );
}, 300_000);

test('a refusal by the trainer is reported in its own words', async () => {
  const { code, stderr } = await stage.whileWorking(() => folder.train('export', '1', '.'));
  expect(code).toBe(1);
  expect(stderr).toMatch(/The folder .* is not empty\. Choose another one, or remove it\./);
}, 120_000);
