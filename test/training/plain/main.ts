import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { createAskPolicy } from '../../../src/policy/ask-policy';
import { findOptimum, questionSet } from '../../../src/testing/world';
import type { Optimum } from '../../../src/testing/world';
import type { Checkpoint } from '../../../src/training/trainer-contract';
import { runPython } from '../../support/python-program';
import { learn, type Cycle } from './learn';
import { samplePlans, type Lesson } from './lesson';
import { RECIPES, type Recipe } from './recipe';
import { tryOut } from './scoring';
import { startStepServer } from './step-server';
import { warmUp } from './warm-up';

// Training without Temporal: the same world, prompts, trainer and policy server in a plain loop. For tuning, and to tell
// what durability costs:
//   node --require ./test/support/run-typescript.cjs test/training/plain/main.ts
//     [--world small|whole] [--seeds 0,1,2] [--cycles N] [--folder DIR]
// In a folder that is named, a warm start that was made before is found again.

async function main(): Promise<void> {
  const { world, seeds, cycles, folder } = parseArgs({
    options: {
      world: { type: 'string', default: 'small' },
      seeds: { type: 'string', default: '0' },
      cycles: { type: 'string' },
      folder: { type: 'string' },
    },
  }).values;
  const recipe = recipeOf(world, cycles);
  const root = folder ?? (await mkdtemp(join(tmpdir(), 'plain-')));
  const optimum = findOptimum(recipe.world);
  for (const seed of seeds.split(',')) await teach(recipe, Number(seed), root, optimum);
}

function recipeOf(name: string, cycles: string | undefined): Recipe {
  const recipe = RECIPES[name];
  if (!recipe) throw new Error(`--world takes ${Object.keys(RECIPES).join(' or ')}, not "${name}".`);
  if (cycles === undefined) return recipe;
  return { ...recipe, learning: { ...recipe.learning, cycles: Number(cycles) } };
}

async function teach(recipe: Recipe, seed: number, root: string, optimum: Optimum): Promise<void> {
  const trainRun = `plain-${recipe.world.name}-${seed}-${Date.now().toString(36)}`;
  const folder = join(root, trainRun);
  await mkdir(folder, { recursive: true });
  const server = await runPython('policy_server', ['--port', '0']);
  const steps = await startStepServer(root);
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  const lesson = { recipe, seed, steps, ask: createAskPolicy(), policyUrl: `${url}/v1`, folder };
  await follow(lesson, trainRun, optimum);
  await Promise.all([steps.close(), server.stop()]);
}

/** Parts of a run that are told of as one line. */
const PARTS = 10;

async function follow(lesson: Lesson, trainRun: string, optimum: Optimum): Promise<void> {
  const began = performance.now();
  const tell = (line: string) => {
    console.log(`${seconds(performance.now() - began)}  ${line}`);
  };
  tell(`${lesson.recipe.world.name} world, seed ${lesson.seed}`);
  let checkpoint = await warmUp(lesson);
  const before = await tellScores(lesson, optimum, checkpoint, tell);
  const part: Cycle[] = [];
  for await (const cycle of learn(lesson, checkpoint, trainRun)) {
    checkpoint = cycle.checkpoint;
    part.push(cycle);
    if (cycle.cycle % Math.ceil(lesson.recipe.learning.cycles / PARTS) === 0) tell(summary(part.splice(0)));
  }
  const after = await tellScores(lesson, optimum, checkpoint, tell);
  tell(`optimum ratio ${after.cool.toFixed(3)} (greedy at start ${before.greedy.toFixed(3)})`);
}

async function tellScores(
  lesson: Lesson,
  optimum: Optimum,
  checkpoint: Checkpoint,
  tell: (line: string) => void,
): Promise<{ readonly cool: number; readonly greedy: number }> {
  const asked = await Promise.all(
    [1, 0.2, 0].map((temperature) => tryOut(lesson, optimum, checkpoint, temperature)),
  );
  const told = asked.map(
    ({ ratio, accuracyRatio, formatRate }, index) =>
      `${['T=1', 'T=0.2', 'greedy'][index]} ${ratio.toFixed(3)}/${accuracyRatio.toFixed(3)} (plans ${formatRate.toFixed(2)})`,
  );
  tell(told.join('  '));
  await tellPlans(lesson, checkpoint, tell);
  return { cool: asked[1]?.ratio ?? 0, greedy: asked[2]?.ratio ?? 0 };
}

/** The likeliest reply to one question of each topic. */
async function tellPlans(
  lesson: Lesson,
  checkpoint: Checkpoint,
  tell: (line: string) => void,
): Promise<void> {
  const { world } = lesson.recipe;
  for (const { question } of questionSet(world, 'heldOut', world.topics.length, lesson.seed)) {
    const { samples } = await samplePlans(lesson, checkpoint, question, { n: 1, seed: 0, temperature: 0 });
    for (const { text, tokenIds } of samples)
      tell(`  ${text.replaceAll('\n', '  ')}  (${tokenIds.length} tokens)`);
  }
}

function summary(cycles: readonly Cycle[]): string {
  const outcomes = cycles.flatMap((cycle) => cycle.outcomes);
  const last = cycles.at(-1);
  return [
    `cycle ${last?.cycle}`,
    `reward ${mean(outcomes.map(({ reward }) => reward)).toFixed(3)}`,
    `plans ${mean(outcomes.map(({ steps }) => Math.sign(steps))).toFixed(3)}`,
    `steps ${mean(outcomes.map(({ steps }) => steps)).toFixed(2)}`,
    `draws ${mean(cycles.map(({ draws }) => draws)).toFixed(1)}`,
    `entropy ${last?.metrics?.entropy.toFixed(3)}`,
    `clip ${last?.metrics?.clipShare.toFixed(3)}`,
    `rollouts ${seconds(mean(cycles.map(({ times }) => times.rollouts)))}`,
    `update ${seconds(mean(cycles.map(({ times }) => times.update)))}`,
  ].join('  ');
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
