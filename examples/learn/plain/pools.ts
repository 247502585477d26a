import type { Checkpoint } from '../../../src/training/trainer-contract';
import { teamsOf } from '../world/teams';
import { MIDDLE_WORLD } from '../world/worlds';
import { holdsForPools, type PoolTrial, ratioOf, tellPools, tellTeams } from './judge-pools';
import type { Lesson } from './lesson';
import { type Recipe, SMALL } from './recipe';
import { runCourse } from './run-course';
import { teach } from './teach';
import { tryTeams } from './try-teams';

// A Conductor that is given other workers each time, told apart by notes that were measured on the training questions:
//   npm run train:pools [-- --seeds 1] [--first 0] [--cycles N] [--folder DIR]
// Training without Temporal, by the product's own draws, prompts, rewards, trainer and policy server. Exits with 1 where
// teams that were never trained on stay below 0.9 of their own optimum, or where the notes are not read.

const LEAST = 2;

/** Ten minutes of arithmetic on one core. */
const POOLS: Recipe = {
  ...SMALL,
  world: MIDDLE_WORLD,
  train: 1200,
  heldOut: 16,
  describe: 'notes',
  pool: {
    adaptive: true,
    least: LEAST,
    permuteIds: true,
    heldOut: teamsOf(MIDDLE_WORLD, 'heldOut', LEAST).map(({ workers }) => workers.map(({ id }) => id)),
  },
  warmStart: { ...SMALL.warmStart, examples: 5000, steps: 700 },
  learning: { ...SMALL.learning, cycles: 50, questions: 8, groupSize: 16, maxDraws: 16, warmupSteps: 10 },
};

async function learnPools(lesson: Lesson, tell: (line: string) => void): Promise<boolean> {
  for (const { id, notes } of lesson.workers) tell(`  ${id}: ${notes}`);
  const measure = async (checkpoint: Checkpoint): Promise<PoolTrial> => {
    const greedy = await tryTeams(lesson, checkpoint, { temperature: 0, notes: 'own' });
    const own = await tryTeams(lesson, checkpoint, { temperature: 0.2, notes: 'own' });
    const swapped = await tryTeams(lesson, checkpoint, { temperature: 0.2, notes: 'swapped' });
    tell(tellTeams(own));
    tell(
      `ratio ${ratioOf(own).toFixed(3)}, greedy ${ratioOf(greedy).toFixed(3)}, notes swapped ${ratioOf(swapped).toFixed(3)}`,
    );
    return { own, swapped };
  };
  const taught = await teach(lesson, tell, measure);
  tell(tellPools(taught));
  return holdsForPools(taught);
}

runCourse(POOLS, learnPools);
