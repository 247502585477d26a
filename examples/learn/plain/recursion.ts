import type { Checkpoint } from '../../../src/training/trainer-contract';
import { holdsForRecursion, tellRecursion, tellReviews } from './judge-recursion';
import type { Lesson } from './lesson';
import { type Recipe, SMALL } from './recipe';
import { runCourse } from './run-course';
import { teach } from './teach';
import { type Reviewed, tryReviews } from './try-reviews';

// A Conductor that reviews its own answers in a second round:
//   npm run train:recursion [-- --seeds 1] [--first 0] [--cycles N] [--folder DIR]
// Training without Temporal, by the product's own prompts, rewards, trainer and policy server. Exits with 1 where reviews
// gain nothing beyond chance, or spoil more right answers than the world's best reviewer would.

/** Six minutes of arithmetic on one core. */
const RECURSION: Recipe = {
  ...SMALL,
  heldOut: 96,
  recursion: { rounds: 2, rootDiscount: 0.25 },
  maxPromptTokens: 320,
  warmStart: { ...SMALL.warmStart, examples: 3000 },
  learning: { ...SMALL.learning, cycles: 48, groupSize: 16 },
};

async function learnReviews(lesson: Lesson, tell: (line: string) => void): Promise<boolean> {
  const measure = async (checkpoint: Checkpoint): Promise<Reviewed[]> => {
    const reviewed = await tryReviews(lesson, checkpoint, 0.2);
    tell(tellReviews(reviewed));
    return reviewed;
  };
  const { after } = await teach(lesson, tell, measure);
  tell(tellRecursion(after));
  return holdsForRecursion(after);
}

runCourse(RECURSION, learnReviews);
