import { createHash } from 'node:crypto';
import type { RunWorker } from '../../../src/protocol/run';
import type { Checkpoint } from '../../../src/training/trainer-contract';
import { questionSet, toJsonLines } from '../world/questions';
import { teamsOf } from '../world/teams';
import { warmStartExamples } from '../world/warm-start';
import type { World } from '../world/world';
import type { Lesson } from './lesson';
import { baseOf, configOf, type Learning } from './recipe';
import { reviewExamples } from './review-examples';
import { promptFor } from './sample-round';
import { handOver } from './step-server';

/** How many of the examples the tokenizer is made from. */
const TEXTS = 1500;

/** What a warm start is asked with: of all this it heeds the size of a batch alone, so it is the same for every recipe. */
const NO_LEARNING: Learning = {
  cycles: 1,
  questions: 2,
  groupSize: 16,
  maxDraws: 2,
  learningRate: 1e-3,
  warmupSteps: 0,
  iterations: 1,
};

/**
 * Builds the tiny model and has it learn from examples of a bad policy. Where the same was done before under one root of
 * checkpoints, it is found done.
 */
export async function warmUp({ recipe, seed, workers, steps, folder }: Lesson): Promise<Checkpoint> {
  const { warmStart, pool, recursion } = recipe;
  const world = withSpecialties(recipe.world, workers);
  const { examples: count, ...how } = warmStart;
  const questions = questionSet(world, 'train', recipe.train, seed);
  const hasReviews = recursion.rounds === 2;
  const firsts = warmStartExamples({
    world,
    questions,
    count: hasReviews ? count / 2 : count,
    seed,
    promptFor: (question, team) =>
      promptFor(recipe, {
        question,
        workers: team.flatMap(({ id }) => workers.filter((worker) => worker.id === id)),
      }),
    ...(pool.adaptive && { teams: teamsOf(world, 'train', pool.least) }),
  });
  const examples = hasReviews
    ? reviewExamples(recipe, workers, questions, seed, count / 2).flatMap((review, index) => [
        ...firsts.slice(index, index + 1),
        review,
      ])
    : firsts;
  const spelled = examples
    .slice(0, TEXTS)
    .map(({ prompt, completion }) => JSON.stringify(prompt + completion));
  const texts = await handOver(folder, 'texts.jsonl', `${spelled.join('\n')}\n`);
  const taught = await handOver(folder, 'examples.jsonl', toJsonLines(examples));
  const config = configOf({ ...recipe, learning: NO_LEARNING }, seed);
  const request = { base: baseOf(texts.stored), config };
  const trainRun = `warm-${shortHash([request, taught.stored, how])}`;
  await steps.init({ trainRun, ...request }, texts.path);
  const parent = { trainRun, name: 'base' };
  const asked = { trainRun, parent, name: 'warm', examples: taught.stored, config: request.config, ...how };
  const { checkpoint } = await steps.warmStart(asked, taught.path);
  return checkpoint;
}

/** Whom its reasoning wants, a policy calls by the first word of the notes, where there are any. */
function withSpecialties(world: World, workers: readonly RunWorker[]): World {
  const told = new Map(workers.map(({ id, notes }) => [id, notes?.split(' ')[0]]));
  return {
    ...world,
    workers: world.workers.map((worker) => ({
      ...worker,
      specialty: told.get(worker.id) ?? worker.specialty,
    })),
  };
}

function shortHash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);
}
