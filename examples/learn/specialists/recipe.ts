import type { ImitationSettings, TrainingConfig } from '../../../src/training/config/schema';
import type { TrainerConfig } from '../../../src/training/trainer-contract';
import type { Supervision } from '../demo/town';
import { type Share, SINGLES, TRAINED_PAIRS, TRAINED_TRIPLES } from './questions';
import { ALL_PHRASES, type Phrase, SKILLS } from './skills';
import { type Schooling, SCHOOLINGS } from './workers';

/** How workers and a Conductor learn: the Conductor in three parts, one after the other. */
export interface Recipe {
  /** The network that all of them begin with, and which of its weights learn. */
  readonly base: TrainingConfig['base'];
  readonly tuning: TrainerConfig['tuning'];
  readonly device: TrainerConfig['device'];
  readonly workers: readonly Schooling[];
  readonly schooling: Omit<Supervision, 'steps'>;
  /** What questions take, each with its share of them. */
  readonly sets: readonly Share[];
  /** Subtasks of random plans, and of those that the table tries. */
  readonly phrases: readonly Phrase[];
  /** Even plans, until hardly any reply is no plan. */
  readonly warmStart: Supervision & { readonly examples: number };
  /** In each cycle of the other parts, with so many plans for each: new pairs are learned from many questions. */
  readonly questions: number;
  readonly groupSize: number;
  /** Its own right plans, among them even ones, so that it goes on trying others. */
  readonly imitation: ImitationSettings;
  /** GRPO, except in cycles that imitate again. */
  readonly rewards: {
    readonly cycles: number;
    readonly learningRate: number;
    readonly iterations: number;
    readonly minibatches: number;
  };
  /** Rows that the trainer takes at a time. */
  readonly microBatch: number;
}

/** Networks of 120,000 random weights. */
export const TINY: Recipe = {
  base: {
    kind: 'tiny',
    vocabulary: 900,
    hidden: 64,
    layers: 2,
    heads: 4,
    keyValueHeads: 4,
    feedForward: 192,
    maxPositions: 512,
    initializerRange: 0.08,
  },
  tuning: { kind: 'full' },
  device: 'cpu',
  workers: SCHOOLINGS,
  schooling: { batch: 16, learningRate: 3e-3, warmupSteps: 50 },
  // Pairs are to be learned, and single skills tell early whom to ask.
  sets: [
    [0.2, SINGLES],
    [0.75, TRAINED_PAIRS],
    [0.05, TRAINED_TRIPLES],
  ],
  phrases: ALL_PHRASES,
  warmStart: { examples: 40_000, steps: 900, batch: 48, learningRate: 3e-3, warmupSteps: 50 },
  questions: 96,
  groupSize: 12,
  imitation: {
    cycles: 60,
    steps: 12,
    batch: 84,
    warmStartShare: 1 / 7,
    learningRate: 2e-3,
    warmupSteps: 3,
    again: { every: 40, steps: 240 },
  },
  rewards: { cycles: 160, learningRate: 5e-4, iterations: 1, minibatches: 2 },
  microBatch: 192,
};

/**
 * A language model, of which each worker has an adapter for one skill, and the Conductor one for plans. Its numbers are
 * guesses: no run has come to its end.
 */
export const smollm2Recipe = (path: string): Recipe => ({
  ...TINY,
  base: { kind: 'folder', path },
  tuning: { kind: 'lora', rank: 16, alpha: 32, targets: 'all-linear' },
  workers: SKILLS.map((skill, index) => ({
    id: `w${index}`,
    taught: [
      [skill, 'plain'],
      [skill, 'fancy'],
    ],
    steps: 200,
  })),
  schooling: { batch: 16, learningRate: 5e-4, warmupSteps: 10 },
  warmStart: { examples: 2000, steps: 80, batch: 16, learningRate: 5e-4, warmupSteps: 8 },
  questions: 16,
  groupSize: 12,
  imitation: { ...TINY.imitation, learningRate: 3e-4, again: { every: 20, steps: 24 } },
  rewards: { cycles: 100, learningRate: 1e-4, iterations: 1, minibatches: 2 },
  microBatch: 16,
});
