import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { SMALL_WORLD } from '../../research/world/world';
import {
  checkpointsFolder,
  cycleExamplesKey,
  checkpointManifestKey,
  metricsKey,
  rightPlansKey,
  weightsFolder,
  weightsKey,
} from '../../src/training/store-keys';
import type { NightProgress } from '../../src/training';
import type { CycleMetrics } from '../../src/training/definitions';
import { workflowBundle } from '../support/temporal';
import { openTrainingStage, type TrainingStage } from './support/training-stage';

let stage: TrainingStage;
beforeAll(async () => {
  stage = await openTrainingStage({
    world: SMALL_WORLD,
    seed: 1,
    warmStartSteps: 40,
    training: {
      run: 'spent',
      questions: 2,
      groupSize: 4,
      cycles: 4,
      totalCycles: 4,
      keep: { last: 2 },
      imitation: { cycles: 1, steps: 2, batch: 8, learningRate: 1e-3, again: { every: 2, steps: 3 } },
    },
  });
}, 300_000);
afterAll(() => stage.close());

async function read<T>(key: string): Promise<T> {
  const bytes = await stage.store.read(key);
  if (bytes === null) throw new Error(`nothing lies under ${key}`);
  return JSON.parse(bytes.toString('utf8')) as T;
}

test('each cycle makes a checkpoint, which the next one samples; the first and some later ones imitate', async () => {
  const { trainRun } = stage;
  const progress = await stage.whileWorking(async () => {
    const { id } = await stage.training.start({ trainRun, date: '2026-01-10' });
    return stage.temporal.client.workflow.getHandle(id).result() as Promise<NightProgress>;
  });
  expect(progress).toMatchObject({ status: 'done', done: 4, cycles: { first: 1, last: 4 }, warning: null });
  const cycles = await Promise.all(
    [1, 2, 3, 4].map((cycle) => read<CycleMetrics>(metricsKey(trainRun, cycle))),
  );
  expect(cycles.map(({ checkpoint }) => checkpoint)).toEqual([
    'spent/000001',
    'spent/000002',
    'spent/000003',
    'spent/000004',
  ]);
  expect(cycles.map(({ imitation }) => imitation !== null)).toEqual([true, false, true, false]);
  expect(cycles.map(({ update }) => update !== null)).toEqual([false, true, false, true]);
  const examples = await stage.artifacts.read(cycleExamplesKey(trainRun, 3));
  expect(examples?.toString('utf8').trim().split('\n')).toHaveLength(3 * 8);
  expect(await stage.store.read(rightPlansKey(trainRun, 2))).not.toBeNull();
  expect(cycles[1]?.update?.logprobGap).toBeLessThan(1e-4);
  expect(await read(checkpointManifestKey(trainRun, '000004'))).toMatchObject({ prompt: 'compact' });
}, 300_000);

test('a night leaves only what may still be needed on disk, in the store and artifacts, and on the policy server', async () => {
  const { trainRun, artifacts, checkpoints, policyUrl, store } = stage;
  const folders = (await readdir(join(checkpoints, trainRun))).filter((name) => !name.startsWith('.'));
  for (const gone of ['000001', '000002']) expect(folders).not.toContain(gone);
  expect(folders.length).toBeLessThanOrEqual(4);
  const manifests = ['000003', '000004', 'warm'].map((name) => checkpointManifestKey(trainRun, name));
  expect(await store.list(checkpointsFolder(trainRun))).toEqual(manifests);
  const weights = ['000003', '000004', 'base', 'warm'].map((name) => weightsKey(trainRun, name));
  expect(await artifacts.list(weightsFolder(trainRun))).toEqual(weights);
  const { data } = (await (await fetch(`${policyUrl}/models`)).json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(['spent-warm', 'spent-000004']);
});

test.each(['train-spent', 'spent-000001-0'])('the history of %s replays', async (id) => {
  const history = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
  await Worker.runReplayHistory({ workflowBundle: workflowBundle() }, history, id);
});
