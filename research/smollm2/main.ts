import { mkdtemp } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeScore, lessonOf, runSeed } from '../demo/run-seed';
import { type Recipe, SMALL, withCycles } from '../plain/recipe';
import { timed } from '../plain/run-course';
import type { Lesson } from '../support/lesson';
import { readWhole } from '../support/options';
import { findOptimum } from '../world/optimum';
import { smollm2Folder } from './unpack';

// Trains SmolLM2-135M-Instruct on the small simulated world by LoRA, with the product's own processes and commands:
//   npm run learn -- smollm2 [--seed 0] [--cycles N] [--folder DIR]
// Takes about an hour of two cores, and 7 GB of memory.

/** Few and short cycles, since a step takes minutes. The warm start teaches the format of plans, rewards the rest. */
const RECIPE: Recipe = {
  ...SMALL,
  heldOut: 8,
  warmStart: {
    examples: 1000,
    steps: 40,
    batch: 8,
    learningRate: 5e-4,
    warmupSteps: 4,
    weights: 'tuned',
  },
  learning: {
    ...SMALL.learning,
    cycles: 12,
    tuning: { kind: 'lora', rank: 16, alpha: 32, targets: 'all-linear' },
    questions: 4,
    groupSize: 16,
    maxDraws: 6,
    learningRate: 1e-4,
    schedule: 'linear',
    warmupSteps: 2,
    iterations: 1,
  },
};

async function main(): Promise<void> {
  const { cycles, folder, ...values } = parseArgs({
    options: {
      seed: { type: 'string', default: '0' },
      cycles: { type: 'string' },
      folder: { type: 'string' },
    },
  }).values;
  // The trainer's programs use one core by default, which suits only tiny models.
  process.env.OMP_NUM_THREADS ??= String(availableParallelism());
  const seed = readWhole('--seed', values.seed);
  const recipe = withCycles(RECIPE, cycles);
  const learned = await runSeed({
    recipe,
    lesson: withSmollm2(lessonOf(recipe, seed), await smollm2Folder(console.log)),
    seed,
    optimum: findOptimum(recipe.world),
    folder: resolve(folder ?? (await mkdtemp(join(tmpdir(), 'train-smollm2-')))),
    tell: timed(),
  });
  const { before, after, minutes } = learned;
  console.log(
    `seed ${seed}: ${learned.cycles} cycles in ${minutes.toFixed(0)} min, ${learned.promoted ? 'promoted' : 'not promoted'}; ` +
      `T=1 from ${describeScore(before.hot)} to ${describeScore(after.hot)}`,
  );
}

function withSmollm2(lesson: Lesson, path: string): Lesson {
  const { training = {} } = lesson;
  return {
    ...lesson,
    training: {
      ...training,
      base: { kind: 'folder', path },
      trainer: { ...training.trainer, microBatch: 8 },
    },
  };
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Exits at once, since calls to a lost process may still be open.
  process.exit(1);
});
