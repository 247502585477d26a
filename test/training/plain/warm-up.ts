import { createHash } from 'node:crypto';
import { questionSet, toJsonLines, warmStartExamples } from '../../../src/testing/world';
import type { Checkpoint } from '../../../src/training/trainer-contract';
import { promptFor, type Lesson } from './lesson';
import { baseOf, configOf, type Learning } from './recipe';
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
export async function warmUp({ recipe, seed, steps, folder }: Lesson): Promise<Checkpoint> {
  const { world, warmStart } = recipe;
  const { examples: count, ...how } = warmStart;
  const examples = warmStartExamples({
    world,
    questions: questionSet(world, 'train', recipe.train, seed),
    count,
    seed,
    promptFor: (question) => promptFor(world, question),
  });
  const spelled = examples
    .slice(0, TEXTS)
    .map(({ prompt, completion }) => JSON.stringify(prompt + completion));
  const texts = await handOver(folder, 'texts.jsonl', `${spelled.join('\n')}\n`);
  const taught = await handOver(folder, 'examples.jsonl', toJsonLines(examples));
  const request = { base: baseOf(texts.stored), config: configOf(NO_LEARNING, seed) };
  const trainRun = `warm-${shortHash([request, taught.stored, how])}`;
  await steps.init({ trainRun, ...request }, texts.path);
  const parent = { trainRun, name: 'base' };
  const asked = { trainRun, parent, name: 'warm', examples: taught.stored, config: request.config, ...how };
  const { checkpoint } = await steps.warmStart(asked, taught.path);
  return checkpoint;
}

function shortHash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 12);
}
