import type { Plan } from '../../../src/plan/plan';
import type { RunWorker } from '../../../src/protocol/run';
import type { PromptedSample } from '../../../src/training/activities/sample-plans';
import { samplingSeed } from '../../../src/training/draw';
import { rewardOf } from '../../../src/training/reward';
import type { GroupPurpose, Verdict } from '../../../src/training/rollout';
import type { QuestionRow } from '../world/questions';
import { answerIn } from '../world/reply';
import { withWorkers } from '../world/world';
import { carryOut } from './carry-out';
import type { Desk, Sampled } from './lesson';
import { planIn } from './plan-in';
import { sampleRound } from './sample-round';

/** A group to be played. */
export interface GroupWish {
  readonly purpose: GroupPurpose;
  readonly cycle: number;
  readonly draw: number;
  readonly question: QuestionRow;
  /** In the order of the prompt. */
  readonly workers: readonly RunWorker[];
  readonly plans: number;
  readonly temperature: number;
}

/** A plan that was written, carried out and judged. */
export interface Played {
  readonly sample: PromptedSample;
  /** In a second round: the place of the plan that it reviews; else its own. */
  readonly root: number;
  readonly plan: Plan | null;
  readonly answer: string | null;
  readonly verdict: Verdict;
  readonly reward: number | null;
}

/** A plan that a second round can be about. */
export type Root = Played & { readonly plan: Plan; readonly answer: string };

/** The paper's rewards. */
const REWARDS = { unparseable: 0, parseable: 0.5, correct: 1, costWeight: 0, lengthWeight: 0 };

/** @param roots what each plan reviews, place by place; null in the first round */
export async function playRound(
  desk: Desk,
  policy: Sampled,
  wish: GroupWish,
  roots: readonly Root[] | null,
): Promise<Played[]> {
  const { purpose, cycle, draw, question, workers, temperature } = wish;
  const round = roots === null ? 0 : 1;
  const asked = {
    question: question.question,
    workers,
    plans: roots?.length ?? wish.plans,
    ...(roots && { earlier: roots }),
  };
  const seed = samplingSeed({ seed: desk.seed, purpose, cycle, draw, round });
  const samples = await sampleRound(desk, policy, asked, { seed, temperature });
  return samples.map((sample, place) => {
    const root = roots?.[place] ?? null;
    const played = { sample, root: root?.root ?? place, ...answer(desk, wish, sample, root ?? place) };
    const verdict = verdictOf(played, question);
    return { ...played, verdict, reward: rewardOf({ ...played, verdict, nanoUsd: 0 }, REWARDS) };
  });
}

/** @param from what the plan reviews; a place in the first round */
function answer(
  { recipe, seed }: Desk,
  { purpose, cycle, draw, question: { question }, workers }: GroupWish,
  { text }: PromptedSample,
  from: Root | number,
): Pick<Played, 'plan' | 'answer'> {
  const ids = workers.map(({ id }) => id);
  const world = withWorkers(recipe.world, ids);
  const place = `${purpose}/${cycle}/${draw}`;
  if (typeof from === 'number') {
    const plan = planIn(world, text);
    return { plan, answer: plan && carryOut(plan, { world, seed, question, name: `${place}/${from}` }) };
  }
  const plan = planIn(world, text, 1);
  if (plan === null || plan.steps.length === 0) return { plan, answer: plan && from.answer };
  const background = [{ subtask: null, output: from.answer }];
  const name = `${place}/${from.root}/review`;
  return { plan, answer: carryOut(plan, { world, seed, question, background, name }) };
}

function verdictOf({ plan, answer }: Pick<Played, 'plan' | 'answer'>, question: QuestionRow): Verdict {
  if (plan === null) return 'unparseable';
  return answer !== null && answerIn(answer) === Number(question.answer) ? 'correct' : 'wrong';
}
