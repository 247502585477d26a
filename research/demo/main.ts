import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Recipe, recipeFor, withCycles } from '../plain/recipe';
import { timed } from '../plain/run-course';
import { seedsFrom } from '../support/options';
import { findOptimum, type Optimum, toReward } from '../world/optimum';
import { type Learned, lessonOf, runSeed } from './run-seed';

// Trains a Conductor on a simulated world with the product's own processes and commands, on this machine's CPU:
//   npm run learn -- demo [--seeds 3] [--first 0] [--world whole|small] [--cycles N] [--folder DIR]
// Exits with 1 if a seed misses a target.

/** Minimum share of the optimum that every seed must reach at the serving temperature. */
const LEAST_RATIO = 0.95;
/** Upper bound on a warm start's greedy policy: above it, the examples would already contain the answer. */
const MOST_AT_START = 0.85;

async function main(): Promise<void> {
  const { world, cycles, folder, ...values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1' },
      first: { type: 'string', default: '0' },
      world: { type: 'string', default: 'whole' },
      cycles: { type: 'string' },
      folder: { type: 'string' },
    },
  }).values;
  const seeds = seedsFrom(values);
  const recipe = withCycles(recipeFor(world), cycles);
  const root = resolve(folder ?? (await mkdtemp(join(tmpdir(), 'train-demo-'))));
  const optimum = findOptimum(recipe.world);
  describeWorld(recipe, optimum).forEach((line) => {
    console.log(line);
  });
  const learned: Learned[] = [];
  for (const seed of seeds) {
    const lesson = lessonOf(recipe, seed);
    const course = { recipe, lesson, seed, optimum, folder: join(root, `seed-${seed}`), tell: timed() };
    learned.push(await runSeed(course));
    sumUp(learned.slice(-1)).forEach((line) => {
      console.log(line);
    });
  }
  if (learned.length > 1) console.log(['', 'all seeds', ...sumUp(learned)].join('\n'));
  const failures = learned.flatMap(shortfalls);
  for (const failure of failures) console.error(failure);
  if (failures.length > 0) process.exitCode = 1;
}

/** Describes the optimum and simple baselines as ratios of rewards. */
function describeWorld({ world }: Recipe, optimum: Optimum): string[] {
  const ratio = (chance: number): string => (toReward(chance) / optimum.reward).toFixed(3);
  return [
    `The ${world.name} world: ${world.topics.length} topics, ${world.workers.length} workers, up to ${world.maxSteps} steps.`,
    `Best plans: reward ${optimum.reward.toFixed(3)}, accuracy ${optimum.chance.toFixed(3)}.`,
    `Ratio of the best single worker ${ratio(optimum.bestWorker)}, of a random plan ${ratio(optimum.random)}.`,
  ];
}

function sumUp(learned: readonly Learned[]): string[] {
  return learned.map(
    ({ seed, before, after, cycles, promoted, minutes }) =>
      `seed ${seed}: ${cycles} cycles in ${minutes.toFixed(1)} min, ${promoted ? 'promoted' : 'not promoted'}, ` +
      `at T=0.2 ${before.cool.ratio.toFixed(3)} before; ` +
      `optimum ratio ${after.cool.ratio.toFixed(3)} (greedy at start ${before.greedy.ratio.toFixed(3)})`,
  );
}

/** Returns the targets that a seed missed. */
function shortfalls({ seed, before, after, promoted }: Learned): string[] {
  return [
    after.cool.ratio >= LEAST_RATIO ? [] : [`ratio ${after.cool.ratio.toFixed(3)} is below ${LEAST_RATIO}`],
    after.cool.ratio > before.cool.ratio ? [] : ['nothing was gained'],
    before.greedy.ratio < MOST_AT_START
      ? []
      : [`the warm start was at ${before.greedy.ratio.toFixed(3)} already`],
    promoted ? [] : ['the gate did not promote what was learned'],
  ].flatMap((lines) => lines.map((line) => `seed ${seed}: ${line}`));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  // Exits at once, since calls to a lost process may still be open.
  process.exit(1);
});
