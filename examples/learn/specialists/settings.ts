import { z } from 'zod';
import { parseTrainable } from '../../../src/training/config/load';
import { resolveTraining } from '../../../src/training/config/resolve';
import type { TrainableInput } from '../../../src/training/config/schema';
import { type TrainerConfig, trainerConfigSchema } from '../../../src/training/trainer-contract';
import { PROMPT } from './conductor';
import { crewConfig } from './crew';
import { MOST_PROMPT, MOST_TOKENS, REWARDS } from './play';
import { PRECISION, type Recipe } from './recipe';

// A recipe in the words of `conductor.yaml`, which a night and the plain loop both learn by.

/** A seed, and where its models are asked. */
interface Setup {
  readonly seed: number;
  readonly recipe: Recipe;
  /** Base URLs, ending in `/v1`. */
  readonly workersUrl: string;
  readonly policyUrl: string;
}

/** Content of `conductor.yaml` beside the files that a night learns from. */
export function configFor({ seed, recipe, workersUrl, policyUrl }: Setup): TrainableInput {
  const { base, tuning, device, school, warmStart, imitation, rewards, questions, groupSize, microBatch } =
    recipe;
  const { steps, batch, learningRate, warmupSteps } = warmStart;
  const cycles = imitation.cycles + rewards.cycles;
  const { style: prompt, describe, access } = PROMPT;
  return {
    conductor: { provider: 'policy' },
    ...crewConfig(workersUrl, school.workers),
    training: {
      run: `seed-${seed}`,
      seed,
      data: { train: 'train.jsonl', heldOut: 'held-out.jsonl' },
      base,
      warmStart: { examples: 'examples.jsonl', steps, batch, learningRate, warmupSteps },
      imitation,
      cycles,
      totalCycles: cycles,
      questions,
      groupSize,
      maxDraws: questions,
      minFormatRate: 0,
      staleness: 1,
      window: 64,
      reward: REWARDS,
      policy: {
        baseUrl: policyUrl,
        prompt,
        describe,
        access,
        maxPromptTokens: MOST_PROMPT,
        maxOutputTokens: MOST_TOKENS,
      },
      gate: { samples: 1 },
      trainer: {
        device,
        precision: PRECISION[device],
        tuning,
        loss: { name: 'dapo', epsilonHigh: 0.28 },
        optimizer: { learningRate: rewards.learningRate, schedule: 'constant', warmupSteps: 4 },
        microBatch,
        iterations: rewards.iterations,
        minibatches: rewards.minibatches,
      },
    },
  };
}

/** The trainer's part of it. */
export function trainerConfigFor(setup: Setup): TrainerConfig {
  const { trainer } = resolveTraining(parseTrainable(configFor(setup)));
  return z.object(trainerConfigSchema.shape).parse(trainer);
}
