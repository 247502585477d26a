import type { Checkpoint } from '../../src/training/trainer-contract';
import { bestReview, chanceOfPlan } from '../world/optimum';
import { type QuestionRow, questionSet, readQuestion } from '../world/questions';
import type { World } from '../world/world';
import { type Played, playGroup } from './group';
import { teach } from './learn';
import type { Lesson, Sampled } from './lesson';
import { type Recipe, SMALL } from './recipe';
import { runCourse } from './run-course';
import { halfWidth95, halfWidthOfShare95, mean } from './scoring';

// Trains a Conductor that reviews its own answers in a second round:
//   npm run learn -- recursion [--baseline question|verdict] [--seeds 1] [--first 0] [--cycles N] [--folder DIR]
// Training without Temporal, with the product's own prompts, rewards, trainer and policy server. Exits with 1 if
// reviews gain nothing beyond chance, or spoil more right answers than the world's best reviewer would.

/** Takes six minutes of one core. */
const RECURSION: Recipe = {
  ...SMALL,
  heldOut: 96,
  recursion: { rounds: 2, rootDiscount: 0.25, baseline: 'question' },
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

/** Returns whether reviews gain more than chance explains, and spoil no more than the best reviewer would. */
export function holdsForRecursion(reviewed: readonly Reviewed[]): boolean {
  const { gain, gainSpread, spoiled, best, bestSpread } = figuresOf(reviewed);
  return gain > gainSpread && spoiled <= best + bestSpread;
}

/** Describes these figures in one line. */
export function tellRecursion(reviewed: readonly Reviewed[]): string {
  const { gain, gainSpread, spoiled, best, bestSpread } = figuresOf(reviewed);
  return (
    `recursion: net gain ${gain.toFixed(3)} ± ${gainSpread.toFixed(3)}, right turned wrong ${percent(spoiled)} % ` +
    `(optimal reviewer ${percent(best)} % ± ${percent(bestSpread)})`
  );
}

/** Describes how often answers were right, and what reviews changed. */
export function tellReviews(reviewed: readonly Reviewed[]): string {
  const share = (is: (one: Reviewed) => boolean): string =>
    mean(reviewed.map((one) => (is(one) ? 1 : 0))).toFixed(3);
  return [
    `right at first ${share(({ wasRight }) => wasRight)}`,
    `after review ${share(({ isRight }) => isRight)}`,
    `mended ${share(({ wasRight, isRight }) => !wasRight && isRight)}`,
    `spoiled ${share(({ wasRight, isRight }) => wasRight && !isRight)}`,
    `accepted when sure ${acceptance(reviewed, true)}, in doubt ${acceptance(reviewed, false)}`,
  ].join('  ');
}

function acceptance(reviewed: readonly Reviewed[], isSure: boolean): string {
  const heard = reviewed.filter((one) => one.isSure === isSure);
  return mean(heard.map(({ isAccepted }) => (isAccepted ? 1 : 0))).toFixed(3);
}

/** Averages gains per question, since answers to one question are alike; spoiled answers count one by one. */
function figuresOf(reviewed: readonly Reviewed[]) {
  const questions = [...new Set(reviewed.map(({ question }) => question))];
  const gains = questions.map((question) =>
    mean(
      reviewed
        .filter((one) => one.question === question)
        .map(({ wasRight, isRight }) => Number(isRight) - Number(wasRight)),
    ),
  );
  const right = reviewed.filter(({ wasRight }) => wasRight);
  const best = mean(right.map(({ bestSpoils }) => bestSpoils));
  return {
    gain: mean(gains),
    gainSpread: halfWidth95(gains),
    spoiled: mean(right.map(({ isRight }) => (isRight ? 0 : 1))),
    best,
    bestSpread: halfWidthOfShare95(best, right.length),
  };
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

/** One answer before and after its review. */
export interface Reviewed {
  /** Index of the question. */
  readonly question: number;
  readonly wasRight: boolean;
  readonly isRight: boolean;
  /** Whether the answer says that it is sure. */
  readonly isSure: boolean;
  readonly isAccepted: boolean;
  /** Chance that the best review of this plan turns a right answer into a wrong one. */
  readonly bestSpoils: number;
}

/** Plans per question. */
const SAMPLES = 8;

/** Has a checkpoint answer the held-out questions, and review its answers. */
export async function tryReviews(
  lesson: Lesson,
  checkpoint: Sampled,
  temperature: number,
): Promise<Reviewed[]> {
  const { recipe, seed, workers } = lesson;
  const { world, heldOut } = recipe;
  const reviewed: Reviewed[] = [];
  for (const [draw, question] of questionSet(world, 'heldOut', heldOut, seed).entries()) {
    const wish = { cycle: 0, draw, question, workers, plans: SAMPLES, temperature };
    const [first = [], second = []] = await playGroup(lesson, checkpoint, { ...wish, purpose: 'evaluation' });
    const reviewOf = new Map(second.map((played) => [played.root, played]));
    for (const root of first) reviewed.push(compare(world, question, draw, root, reviewOf.get(root.root)));
  }
  return reviewed;
}

/** Compares an answer before and after review; an unreadable review is ignored, as it is when the policy serves. */
function compare(
  world: World,
  row: QuestionRow,
  question: number,
  { plan, answer, verdict }: Played,
  review: Played | undefined,
): Reviewed {
  const { topic } = readQuestion(world, row.question);
  const last = review === undefined || review.plan === null ? verdict : review.verdict;
  return {
    question,
    wasRight: verdict === 'correct',
    isRight: last === 'correct',
    isSure: answer?.includes('I am sure') ?? false,
    isAccepted: review?.plan?.steps.length === 0,
    bestSpoils:
      plan === null ? 0 : bestReview(world, topic, { plan, chance: chanceOfPlan(world, topic, plan) }).spoils,
  };
}

/** Sets what reviews are compared with: all reviews of a question, or those of answers with the same verdict. */
function withBaseline(recipe: Recipe, name: string): Recipe {
  if (name !== 'question' && name !== 'verdict')
    throw new Error(`--baseline takes question or verdict, not "${name}".`);
  return { ...recipe, recursion: { ...recipe.recursion, baseline: name } };
}

if (require.main === module) runCourse(RECURSION, learnReviews, { name: 'baseline', change: withBaseline });
