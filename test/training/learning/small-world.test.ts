import { createAskPolicy } from '../../../src/policy/ask-policy';
import { readManifest } from '../../../src/policy/manifests';
import { readServing } from '../../../src/policy/serving';
import { findOptimum } from '../../../src/testing/world';
import type { CheckpointRef } from '../../../src/training/train-input';
import type { NightProgress } from '../../../src/training/progress';
import { openTrainingStage, type TrainingStage } from '../../support/training-stage';
import { lessonOf } from '../demo/lesson-of';
import { SMALL } from '../plain/recipe';
import { tryOut, type Score } from '../plain/scoring';

const SEED = 1;
const { cycles } = SMALL.learning;

let stage: TrainingStage;
beforeAll(async () => {
  const lesson = lessonOf(SMALL, SEED);
  stage = await openTrainingStage({ ...lesson, training: { ...lesson.training, run: 'small' } });
}, 300_000);
afterAll(() => stage.close(), 300_000);

async function tryAt(checkpoint: CheckpointRef, temperature: number): Promise<Score> {
  const desk = { recipe: SMALL, seed: SEED, ask: createAskPolicy(), policyUrl: stage.policyUrl };
  return tryOut(desk, findOptimum(SMALL.world), await readManifest(stage.store, checkpoint), temperature);
}

test('a policy that has learned to imitate bad plans learns to write the best ones', async () => {
  const { trainRun } = stage;
  const progress = await stage.whileWorking(async () => {
    const { id } = await stage.training.start({ trainRun, date: '2026-01-10' });
    return stage.temporal.client.workflow.getHandle(id).result() as Promise<NightProgress>;
  });
  expect(progress).toMatchObject({ status: 'done', done: cycles });
  const learned = { trainRun, name: String(cycles).padStart(6, '0') };
  const [before, after] = [await tryAt({ trainRun, name: 'warm' }, 0), await tryAt(learned, 0.2)];
  expect(before.ratio).toBeLessThan(0.85);
  expect(after.ratio).toBeGreaterThanOrEqual(0.95);
  expect(await readServing(stage.store)).toMatchObject({ serving: learned });
}, 1_200_000);
