import { bestReview, chanceOfPlan } from '../world/optimum';
import { type QuestionRow, questionSet, readQuestion } from '../world/questions';
import type { World } from '../world/world';
import type { Lesson, Sampled } from './lesson';
import { playGroup } from './play-group';
import type { Played } from './play-round';

/** One answer before and after its review. */
export interface Reviewed {
  /** Place of the question. */
  readonly question: number;
  readonly wasRight: boolean;
  readonly isRight: boolean;
  /** Whether whoever answered said so. */
  readonly isSure: boolean;
  readonly isAccepted: boolean;
  /** Chance that the best review of this plan would turn its answer, were it right, into a wrong one. */
  readonly bestSpoils: number;
}

/** Plans of each question. */
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

/** A review that cannot be read is none: the answer at hand stands, as it does when the policy serves. */
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
