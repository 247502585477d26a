import type { Lesson } from '../../../test/support/lesson';
import { SMALL_WORLD } from '../world/worlds';

/** How much is measured. */
export interface Extent {
  /** Of a cycle. */
  readonly questions: number;
  /** Of a question. */
  readonly plans: number;
  /** The first one is played and not counted: connections are made in it, and caches filled. */
  readonly cycles: number;
  /** What a worker's call takes, in milliseconds, where calls take their time; else they take none. */
  readonly slowMs: number;
  /** Supervised steps, after which replies are plans, some of them right. */
  readonly warmStartSteps: number;
  /** How often a trainer's step is repeated. */
  readonly steps: number;
}

/** For a machine that does nothing else. */
export const WHOLE: Extent = {
  questions: 8,
  plans: 16,
  cycles: 3,
  slowMs: 500,
  warmStartSteps: 600,
  steps: 9,
};

/** Shows that everything still works; its figures say nothing. */
export const QUICK: Extent = {
  questions: 1,
  plans: 4,
  cycles: 2,
  slowMs: 20,
  warmStartSteps: 200,
  steps: 1,
};

/** What is learned meanwhile. The gate, which is not measured, gets as few questions as it takes. */
export function lessonOf({ questions, plans, cycles, warmStartSteps }: Extent): Lesson {
  return {
    world: SMALL_WORLD,
    seed: 0,
    warmStartSteps,
    size: { train: 256, heldOut: 2, examples: 2000 },
    training: {
      cycles,
      questions,
      groupSize: plans,
      // So many that some group has a spread, however few there are.
      maxDraws: 2 * questions + 8,
      window: 10,
      trainer: { microBatch: questions * plans },
    },
  };
}
