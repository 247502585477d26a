import type { Lesson } from '../../../test/support/lesson';
import { SMALL_WORLD } from '../world/worlds';

/** A night of a minute, long enough to be killed in every part of it. */
export const LESSON: Lesson = {
  world: SMALL_WORLD,
  seed: 7,
  warmStartSteps: 60,
  training: { questions: 2, groupSize: 8, cycles: 3, totalCycles: 3, gate: { samples: 1 } },
};

/** How many of a night's requests come before its last kill: after that, the night must have enough left to be due. */
export const SHARE_WITH_KILLS = 0.6;
