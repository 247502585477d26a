import type { ImitationSettings } from '../../../src/training/config/schema';
import type { Supervision } from '../demo/town';
import { type Share, SINGLES, TRAINED_PAIRS, TRAINED_TRIPLES } from './questions';
import { ALL_PHRASES, type Phrase } from './skills';

/** How a Conductor learns, in three parts one after the other. */
export interface Recipe {
  /** What questions take, each with its share of them. */
  readonly sets: readonly Share[];
  /** Subtasks that its first plans are made of. */
  readonly phrases: readonly Phrase[];
  /** Share of the first plans whose subtasks are in words of the question. */
  readonly echo: number;
  /** Even plans, until hardly any reply is no plan. */
  readonly warmStart: Supervision & { readonly examples: number };
  /** In each cycle of the other parts, with so many plans for each: new pairs are learned from many questions. */
  readonly questions: number;
  readonly groupSize: number;
  /** Its own right plans, among them even ones, so that it goes on trying others. */
  readonly imitation: ImitationSettings;
  /** GRPO. */
  readonly rewards: {
    readonly cycles: number;
    readonly learningRate: number;
    readonly iterations: number;
    readonly minibatches: number;
  };
}

export const RECIPE: Recipe = {
  // Pairs are to be learned; single skills are easy, and would take over.
  sets: [
    [0.15, SINGLES],
    [0.75, TRAINED_PAIRS],
    [0.1, TRAINED_TRIPLES],
  ],
  phrases: ALL_PHRASES,
  echo: 0.9,
  warmStart: { examples: 40_000, steps: 900, batch: 48, learningRate: 3e-3, warmupSteps: 50 },
  questions: 96,
  groupSize: 12,
  imitation: {
    cycles: 40,
    steps: 12,
    batch: 84,
    warmStartShare: 1 / 7,
    learningRate: 2e-3,
    warmupSteps: 3,
  },
  rewards: { cycles: 220, learningRate: 5e-4, iterations: 1, minibatches: 2 },
};
