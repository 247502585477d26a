import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Checkpoint } from '../../src/training/trainer-contract';
import { readWhole } from '../support/options';
import { findOptimum, type Optimum } from '../world/optimum';
import { questionSet } from '../world/questions';
import { priorNamed } from '../world/warm-start';
import { planIn, type Played, sampleRound } from './group';
import { describeShapes, teach } from './learn';
import { type Lesson, openLesson } from './lesson';
import { type Recipe, recipeFor, withLearning } from './recipe';
import { timed } from './run-course';
import { tryOut } from './scoring';

// Training without Temporal: the same world, prompts, trainer and policy server in a plain loop. For tuning, and to
// measure what durability costs:
//   npm run learn -- plain
//     [--world small|whole] [--prior decoy|blind] [--beta 0.05] [--schedule constant|cosine|linear|wsd] [--staleness 1]
//     [--topics code,law] [--seeds 0,1,2] [--cycles N] [--folder DIR]
// With topics, the policy learns only from their questions. A warm start made earlier in the named folder is reused.

async function main(): Promise<void> {
  const { world, prior, beta, schedule, staleness, topics, seeds, cycles, folder } = parseArgs({
    options: {
      world: { type: 'string', default: 'small' },
      prior: { type: 'string', default: 'decoy' },
      beta: { type: 'string' },
      schedule: { type: 'string' },
      staleness: { type: 'string' },
      topics: { type: 'string' },
      seeds: { type: 'string', default: '0' },
      cycles: { type: 'string' },
      folder: { type: 'string' },
    },
  }).values;
  const planned = withLearning(recipeFor(world), { cycles, beta, schedule, staleness });
  const recipe = {
    ...planned,
    prior: priorNamed(prior),
    ...(topics !== undefined && { topics: topicsNamed(topics, planned) }),
  };
  const root = folder ?? (await mkdtemp(join(tmpdir(), 'plain-')));
  const optimum = findOptimum(recipe.world);
  for (const seed of seeds.split(',')) await run(recipe, readWhole('--seeds', seed), root, optimum);
}

function topicsNamed(list: string, { world }: Recipe): string[] {
  const known = world.topics.map(({ name }): string => name);
  const named = list.split(',');
  const unknown = named.find((name) => !known.includes(name));
  if (unknown === undefined) return named;
  throw new Error(`--topics takes ${known.join(', ')}, with commas between them, not "${unknown}".`);
}

async function run(recipe: Recipe, seed: number, root: string, optimum: Optimum): Promise<void> {
  const tell = timed();
  tell(`${recipe.world.name} world, seed ${seed}`);
  const lesson = await openLesson(recipe, seed, root);
  const { before, after } = await teach(lesson, tell, (checkpoint) =>
    tellScores(lesson, optimum, checkpoint, tell),
  );
  tell(`optimum ratio ${after.cool.toFixed(3)} (greedy at start ${before.greedy.toFixed(3)})`);
  await lesson.close();
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
  tell(`best shape at T=1: ${await describeAtLarge(lesson, optimum, checkpoint)}`);
  await tellPlans(lesson, checkpoint, tell);
  return { cool: asked[1]?.ratio ?? 0, greedy: asked[2]?.ratio ?? 0 };
}

/** Describes the shares of best shapes on held-out questions, including topics that the policy does not learn from. */
async function describeAtLarge(lesson: Lesson, optimum: Optimum, checkpoint: Checkpoint): Promise<string> {
  const { recipe, workers, seed } = lesson;
  const written: Pick<Played, 'topic' | 'plan'>[] = [];
  for (const [place, { question, topic }] of questionSet(
    recipe.world,
    'heldOut',
    recipe.heldOut,
    seed,
  ).entries()) {
    const round = { question, workers, plans: 32 };
    const samples = await sampleRound(lesson, checkpoint, round, { seed: place, temperature: 1 });
    written.push(...samples.map(({ text }) => ({ topic, plan: planIn(recipe.world, text) })));
  }
  return describeShapes(written, optimum);
}

/** Prints the greedy reply to one question of each topic. */
async function tellPlans(
  lesson: Lesson,
  checkpoint: Checkpoint,
  tell: (line: string) => void,
): Promise<void> {
  const { recipe, workers, seed } = lesson;
  const { world } = recipe;
  for (const { question } of questionSet(world, 'heldOut', world.topics.length, seed)) {
    const round = { question, workers, plans: 1 };
    const samples = await sampleRound(lesson, checkpoint, round, { seed: 0, temperature: 0 });
    for (const { text, completionTokenIds } of samples)
      tell(`  ${text.replaceAll('\n', '  ')}  (${completionTokenIds.length} tokens)`);
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
