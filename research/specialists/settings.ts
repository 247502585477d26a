import { z } from 'zod';
import { parseTrainable, resolveTraining } from '../../src/training/config';
import type { TrainableInput } from '../../src/training/config/schema';
import { type TrainerConfig, trainerConfigSchema } from '../../src/training/trainer-contract';
import { PROMPT } from './conductor';
import { crewConfig } from './crew';
import { MOST_PROMPT, MOST_TOKENS, REWARDS } from './play';
import { PRECISION, type Recipe } from './recipe';

// A recipe as settings of `conductor.yaml`, which both a night and the plain loop use.

/** A seed, and the addresses of its models. */
interface Setup {
  readonly seed: number;
  readonly recipe: Recipe;
  /** Base URLs, ending in `/v1`. */
  readonly workersUrl: string;
  readonly policyUrl: string;
}

/** Returns the content of `conductor.yaml` beside the files that a night learns from. */
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

/** Returns the trainer's part of these settings. */
export function trainerConfigFor(setup: Setup): TrainerConfig {
  const { trainer } = resolveTraining(parseTrainable(configFor(setup)));
  return z.object(trainerConfigSchema.shape).parse(trainer);
}
