import { createHash } from 'node:crypto';
import type { Plan } from '../../src/plan/plan';
import { renderPlan } from '../../src/plan/render';
import type { RunWorker } from '../../src/protocol/cards';
import type { Checkpoint } from '../../src/training/trainer-contract';
import { findOptimum, kindOf, optimumFor } from '../world/optimum';
import { type QuestionRow, questionSet, toJsonLines } from '../world/questions';
import { drawPriorPlan, type WarmStartExample, warmStartExamples } from '../world/warm-start';
import { diceFor, teamsOf, type World } from '../world/world';
import { carryOut, promptFor } from './group';
import { handOver, type Lesson } from './lesson';
import { baseOf, configOf, type Learning, type Recipe } from './recipe';

/** Number of examples that the tokenizer is made from. */
const TEXTS = 1500;

/** Learning settings of a warm start: only the tuning and the batch size matter, so many recipes share one. */
const NO_LEARNING: Omit<Learning, 'tuning'> = {
  cycles: 1,
  questions: 2,
  groupSize: 16,
  maxDraws: 2,
  learningRate: 1e-3,
  schedule: 'linear',
  warmupSteps: 0,
  beta: 0,
  iterations: 1,
  staleness: 0,
};

/**
 * Builds the tiny model and trains it on examples of a bad policy. A warm start made earlier in the same root of
 * checkpoints is reused.
 */
export async function warmUp({ recipe, seed, workers, steps, folder }: Lesson): Promise<Checkpoint> {
  const { warmStart, pool, recursion, prior } = recipe;
  const world = withSpecialties(recipe.world, workers);
  const { examples: count, ...how } = warmStart;
  const questions = questionSet(world, 'train', recipe.train, seed);
  const hasReviews = recursion.rounds === 2;
  const firsts = warmStartExamples({
    world,
    questions,
    count: hasReviews ? count / 2 : count,
    seed,
    prior,
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
  const { tuning } = recipe.learning;
  const config = configOf({ ...recipe, learning: { ...NO_LEARNING, tuning } }, seed);
  const request = { base: baseOf(texts.stored), config };
  const trainRun = `warm-${shortHash([request, taught.stored, how])}`;
  await steps.init({ trainRun, ...request }, texts.path);
  const parent = { trainRun, name: 'base' };
  const asked = { trainRun, parent, name: 'warm', examples: taught.stored, config, ...how };
  const { checkpoint } = await steps.warmStart(asked, taught.path);
  return checkpoint;
}

/** Sets each worker's specialty, by which the policy's reasoning names it, to the first word of its notes, if any. */
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

/** Chance that an untrained policy accepts an answer, right or wrong. */
const ACCEPTS = 0.5;

/** Returns an untrained policy's reviews: acceptance is independent of the answer, and most plans are bad. */
function reviewExamples(
  recipe: Recipe,
  workers: readonly RunWorker[],
  questions: readonly QuestionRow[],
  seed: number,
  count: number,
): WarmStartExample[] {
  const { world, prior } = recipe;
  const optimum = findOptimum(world);
  return Array.from({ length: count }, (_, index) => {
    const dice = diceFor('reviews', world.name, seed, index);
    const { question, topic } = dice.pick(questions);
    const best = optimumFor(world, optimum, topic);
    const first = drawPriorPlan(world, best, prior, dice);
    const { answer } = carryOut(first, { world, seed, question, name: `reviews/${index}` });
    const second = dice.happens(ACCEPTS) ? { steps: [] } : drawPriorPlan(world, best, prior, dice);
    const ids = workers.map(({ id }) => id);
    return {
      prompt: promptFor(recipe, { question, workers, review: { plan: first, answer } }),
      completion: `About ${topic}, ${heard(answer)}: ${reasoning(second)}.\n${renderPlan(second, ids)}`,
    };
  });
}

/** Repeats how sure the answer is without using it; what it means is left to be learned. */
function heard(answer: string): string {
  return answer.includes('I am sure') ? 'sure' : 'doubt';
}

function reasoning({ steps }: Plan): string {
  return steps.length === 0 ? 'accept' : steps.map(({ subtask }) => kindOf(subtask)).join(', ');
}
