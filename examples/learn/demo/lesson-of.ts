import type { Lesson } from '../../../test/support/lesson';
import type { Recipe } from '../plain/recipe';

/** A recipe as the product's own settings. */
export function lessonOf({ world, train, heldOut, warmStart, learning }: Recipe, seed: number): Lesson {
  const { cycles, questions, groupSize, maxDraws, learningRate, warmupSteps, iterations } = learning;
  return {
    world,
    seed,
    warmStartSteps: warmStart.steps,
    size: { train, heldOut, examples: warmStart.examples },
    training: {
      cycles,
      totalCycles: cycles,
      questions,
      groupSize,
      maxDraws,
      // The best plans of these worlds are teams, and a team costs more than one worker.
      gate: { maxCostRatio: 1.5 },
      trainer: {
        optimizer: { learningRate, schedule: 'linear', warmupSteps },
        microBatch: questions * groupSize,
        iterations,
      },
    },
  };
}
