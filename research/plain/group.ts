import { nanoUsdOf } from '../../src/budget/nano-usd';
import { parsePlan } from '../../src/plan/parse';
import type { Plan, Message } from '../../src/plan/plan';
import { PlanError } from '../../src/plan/plan-error';
import { type ConductorPrompt, conductorMessages } from '../../src/plan/prompt/conductor';
import { type GivenText, workerMessages } from '../../src/plan/prompt/worker';
import type { RunWorker } from '../../src/protocol/cards';
import { openStore } from '../../src/store/open-store';
import type { KeptSample } from '../../src/training/activities/batch';
import {
  planPrompts,
  type SamplePlansRequest,
  samplePrompts,
} from '../../src/training/activities/sample-plans';
import { samplingSeed } from '../../src/training/draw';
import { tinyPrompt } from '../support/tiny-prompt';
import { rewardOf, rewardOfRoot } from '../../src/training/rewards';
import type { GroupId } from '../../src/training/records';
import type { QuestionRow } from '../world/questions';
import { answerIn, replyAs } from '../world/simulate';
import { withWorkers, workerOf, type World } from '../world/world';
import type { Desk, Sampled } from './lesson';
import { LONGEST_PLAN, type Recipe } from './recipe';
import type { Verdict } from '../../src/grading/grade';

/**
 * Samples a group's plans from a policy and carries them out. With two rounds, the policy reviews each answer, and
 * each first plan's reward includes a share of its review's. Returns the plans by round.
 */
export async function playGroup(desk: Desk, policy: Sampled, wish: GroupWish): Promise<Played[][]> {
  const { rounds, rootDiscount } = desk.recipe.recursion;
  const first = await playRound(desk, policy, wish, null);
  const roots = rounds === 2 ? first.filter(hasAnswer) : [];
  if (roots.length === 0) return [first];
  const second = await playRound(desk, policy, wish, roots);
  const later = new Map(second.map(({ root, reward }) => [root, reward]));
  const discounted = first.map((played) => {
    const after = later.get(played.root);
    if (after === undefined) return played;
    return { ...played, reward: rewardOfRoot(played.reward, after, rootDiscount) };
  });
  return [discounted, second];
}

function hasAnswer(played: Played): played is Root {
  return played.plan !== null && played.answer !== null;
}

/** A group to be played. */
export interface GroupWish {
  readonly purpose: GroupId['purpose'];
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
  readonly topic: string;
  readonly sample: KeptSample;
  /** Index of the reviewed plan in a second round, else of the plan itself. */
  readonly root: number;
  readonly plan: Plan | null;
  readonly answer: string | null;
  readonly verdict: Verdict;
  /** Cost of its workers, in 10⁻⁹ USD. */
  readonly nanoUsd: number;
  readonly reward: number | null;
  readonly baseline: string | undefined;
}

/** A plan that a second round can review. */
export type Root = Played & { readonly plan: Plan; readonly answer: string };

/** The paper's rewards. */
const REWARDS = { unparseable: 0, parseable: 0.5, correct: 1, lengthWeight: 0 };

/** @param roots the reviewed plans, one per plan in order; null in the first round */
async function playRound(
  desk: Desk,
  policy: Sampled,
  wish: GroupWish,
  roots: readonly Root[] | null,
): Promise<Played[]> {
  const { purpose, cycle, draw, question, workers, temperature } = wish;
  const rewards = { ...REWARDS, costWeight: desk.recipe.costWeight };
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
    const played = {
      topic: question.topic,
      sample,
      root: root?.root ?? place,
      ...answer(desk, wish, sample, root ?? place),
    };
    const verdict = verdictOf(played, question);
    const baseline = desk.recipe.recursion.baseline === 'verdict' ? root?.verdict : undefined;
    return { ...played, verdict, baseline, reward: rewardOf({ ...played, verdict }, rewards) };
  });
}

/** @param from the reviewed plan; in the first round, the plan's index */
function answer(
  { recipe, seed }: Desk,
  { purpose, cycle, draw, question: { question }, workers }: GroupWish,
  { text }: KeptSample,
  from: Root | number,
): Pick<Played, 'plan' | 'answer' | 'nanoUsd'> {
  const ids = workers.map(({ id }) => id);
  const world = withWorkers(recipe.world, ids);
  const place = `${purpose}/${cycle}/${draw}`;
  if (typeof from === 'number') {
    const plan = planIn(world, text);
    const name = `${place}/${from}`;
    return plan === null
      ? { plan, answer: null, nanoUsd: 0 }
      : { plan, ...carryOut(plan, { world, seed, question, name }) };
  }
  const plan = planIn(world, text, 1);
  if (plan === null || plan.steps.length === 0) return { plan, answer: plan && from.answer, nanoUsd: 0 };
  const background = [{ subtask: null, output: from.answer }];
  const name = `${place}/${from.root}/review`;
  return { plan, ...carryOut(plan, { world, seed, question, background, name }) };
}

function verdictOf({ plan, answer }: Pick<Played, 'plan' | 'answer'>, question: QuestionRow): Verdict {
  if (plan === null) return 'unparseable';
  return answer !== null && answerIn(answer) === Number(question.answer) ? 'correct' : 'wrong';
}

/** Request for plans, in the form that the sampling activity takes. */
export interface RoundRequest extends Pick<SamplePlansRequest, 'workers' | 'plans' | 'earlier'> {
  readonly question: string;
}

/** Sampling settings. */
export interface Draw {
  readonly seed: number;
  /** 0: greedy sampling. */
  readonly temperature: number;
}

/** Samples the plans of one round of a group from a checkpoint, with the product's own prompts. */
export async function sampleRound(
  { recipe, policyUrl }: Desk,
  { trainRun, name, folder, vocabulary }: Sampled,
  round: RoundRequest,
  draw: Draw,
): Promise<readonly KeptSample[]> {
  const { maxPromptTokens } = recipe;
  const model = `${trainRun}-${name}`;
  const policy = { model, folder, vocabulary, maxPromptTokens, baseUrl: policyUrl, chat: 'chatml' } as const;
  const prompts = await promptsOf(recipe, round);
  const task = { policy, prompts, ...draw, maxTokens: LONGEST_PLAN };
  return samplePrompts(task, new AbortController().signal);
}

/** Returns a policy's prompt as text. */
export function promptFor(
  recipe: Recipe,
  { question, workers, review }: Pick<ConductorPrompt, 'question' | 'workers' | 'review'>,
): string {
  const { describe, world } = recipe;
  const { maxSteps } = world;
  const asked = {
    question,
    workers,
    describe,
    maxSteps,
    format: 'lists',
    access: 'binary',
    repairs: [],
  } as const;
  return tinyPrompt(conductorMessages({ ...asked, style: 'compact', review }));
}

function promptsOf(
  { world: { maxSteps }, describe, maxPromptTokens }: Recipe,
  { question, ...round }: RoundRequest,
): Promise<Message[][]> {
  const settings = {
    prompt: 'compact',
    describe,
    access: 'binary',
    subtasks: true,
    examples: [],
    maxSteps,
    maxPromptTokens,
    maxOutputTokens: LONGEST_PLAN,
  } as const;
  return planPrompts(NO_STORE, round, settings, { question });
}

/** Never read: answers of these worlds are too short to be stored by reference. */
const NO_STORE = openStore('sqlite:none.db', '/nowhere');

/**
 * Returns the plan in a reply, or null if there is none.
 *
 * @param round 1: the plan may be empty, which accepts an answer
 */
export function planIn(
  { workers, maxSteps }: Pick<World, 'maxSteps'> & { readonly workers: readonly { readonly id: string }[] },
  text: string,
  round = 0,
): Plan | null {
  try {
    return parsePlan(text, { workers: workers.map(({ id }) => id), maxSteps, round });
  } catch (error) {
    if (error instanceof PlanError) return null;
    throw error;
  }
}

/** Context of a plan's execution. */
export interface Errand {
  readonly world: World;
  readonly seed: number;
  readonly question: string;
  /** Texts that every step is shown. */
  readonly background?: readonly GivenText[];
  /** Unique name of this execution, which seeds the workers' replies. */
  readonly name: string;
}

/** The last step's reply, and the cost of all steps in 10⁻⁹ USD. */
export interface CarriedOut {
  readonly answer: string;
  readonly nanoUsd: number;
}

/** Carries out a plan within this process, with the product's own prompts. */
export function carryOut(
  { steps }: Plan,
  { world, seed, question, background = [], name }: Errand,
): CarriedOut {
  const outputs: string[] = [];
  let nanoUsd = 0;
  for (const [index, { worker, subtask, sees }] of steps.entries()) {
    const seen = sees.map((step) => ({
      step,
      subtask: steps[step]?.subtask ?? '',
      output: outputs[step] ?? '',
    }));
    const messages = workerMessages({ question, subtask, background, sees: seen, layout: 'tagged' });
    const prompt = messages.map(({ text }) => text).join('\n\n');
    const reply = replyAs(world, seed, { worker, prompt, callId: `${name}/${index}` });
    outputs.push(reply);
    const usage = { inputTokens: tokensIn(prompt), outputTokens: tokensIn(reply), cachedInputTokens: 0 };
    nanoUsd += nanoUsdOf({ ...usage, reasoningTokens: 0 }, workerOf(world, worker).price);
  }
  return { answer: outputs.at(-1) ?? '', nanoUsd };
}

/** Counts as simulated providers do: four characters per token. */
function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}
