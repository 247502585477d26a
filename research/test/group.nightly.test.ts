import { playGroup } from '../plain/group';
import { workersFor } from '../plain/notes';
import { type Recipe, SMALL } from '../plain/recipe';
import { questionSet } from '../world/questions';
import { SMALL_WORLD } from '../world/world';
import type { Plan } from '../../src';
import { renderPlan } from '../../src/plan/render';
import { startScriptedPolicy } from '../../test/support/scripted-policy';
import { useEach } from '../../test/support/use';

const recipe = {
  ...SMALL,
  maxPromptTokens: 1_000,
  recursion: { rounds: 2, rootDiscount: 0.25, baseline: 'question' },
} as const;
const [question] = questionSet(SMALL_WORLD, 'train', 1, 0);
if (question === undefined) throw new Error('There must be a question.');
const workers = workersFor(recipe, 0);

/** A plan that never gives an answer, and so is never right. */
const OUTLINE: Plan = { steps: [{ worker: 'critic', subtask: 'Plan the steps to take.', sees: [] }] };
/** A plan that is mostly right: the quick worker knows trivia. */
const SOLVE: Plan = { steps: [{ worker: 'quick', subtask: 'Solve the question.', sees: [] }] };
const ACCEPT: Plan = { steps: [] };

const server = useEach(() => startScriptedPolicy('run-warm'));

/** Plays a group whose policy writes `firsts` in the first round and `review` in the second. */
function play(
  plans: number,
  firsts: readonly string[],
  review: string,
  change: Partial<Recipe> = {},
): ReturnType<typeof playGroup> {
  server.writeEach(({ prompt }, place) => (isReview(prompt) ? review : (firsts[place] ?? '')));
  const desk = { recipe: { ...recipe, ...change }, seed: 0, policyUrl: server.baseUrl };
  return playGroup(desk, policy, { ...wish, plans });
}

const textIn = (prompt: unknown): string => Buffer.from(prompt as number[]).toString();
const isReview = (prompt: unknown): boolean => textIn(prompt).includes('Answer: ');

const policy = { trainRun: 'run', name: 'warm', folder: '/nowhere', tokenizerSha256: '', vocabulary: 400 };
const textOf = (plan: Plan): string => renderPlan(plan, ['quick', 'maths', 'critic']);
const wish = { purpose: 'training', cycle: 1, draw: 0, question, workers, temperature: 1 } as const;

test('each plan with an answer is reviewed, and a quarter of its reward comes from its review', async () => {
  const firsts = [textOf(OUTLINE), 'no plan at all', ...Array<string>(8).fill(textOf(OUTLINE))];
  const [first, second] = await play(10, firsts, textOf(SOLVE));
  expect(second?.map(({ root }) => root)).toEqual([0, 2, 3, 4, 5, 6, 7, 8, 9]);
  const earned = second?.map(({ reward }) => reward) ?? [];
  expect(new Set(earned)).toEqual(new Set([0.5, 1]));
  expect(first?.[1]?.reward).toBe(0);
  expect(first?.toSpliced(1, 1).map(({ reward }) => reward)).toEqual(
    earned.map((later) => 0.75 * 0.5 + 0.25 * (later ?? 0)),
  );
  expect(textIn(server.bodiesTo('/v1/completions').at(-1)?.prompt)).toContain('Answer: Plan: add');
});

test('an accepted answer stands, right or wrong', async () => {
  const [first, second] = await play(2, [textOf(OUTLINE), textOf(SOLVE)], textOf(ACCEPT));
  expect(second?.map(({ answer }) => answer)).toEqual(first?.map(({ answer }) => answer));
  expect(second?.map(({ verdict }) => verdict)).toEqual(['wrong', 'correct']);
});

test('a first round cannot accept, and an unreadable review earns nothing', async () => {
  const [first, second] = await play(2, [textOf(ACCEPT), textOf(SOLVE)], 'well');
  expect(first?.map(({ verdict }) => verdict)).toEqual(['unparseable', 'correct']);
  expect(second?.map(({ reward }) => reward)).toEqual([0]);
  expect(first?.map(({ reward }) => reward)).toEqual([0, 0.75]);
});

test('reviews can be compared only with reviews of answers that had the same verdict', async () => {
  const recursion = { ...recipe.recursion, baseline: 'verdict' } as const;
  const [first, second] = await play(2, [textOf(OUTLINE), textOf(SOLVE)], textOf(ACCEPT), { recursion });
  expect(first?.map(({ baseline }) => baseline)).toEqual([undefined, undefined]);
  expect(second?.map(({ baseline }) => baseline)).toEqual(['wrong', 'correct']);
});

test('a right answer earns less the more its workers cost, and accepting an answer costs nothing', async () => {
  const firsts = [textOf(OUTLINE), textOf(SOLVE)];
  const recursion = { ...recipe.recursion, rounds: 1 } as const;
  const [first] = await play(2, firsts, '', { recursion, costWeight: 1e4 });
  const costs = first?.map(({ nanoUsd }) => nanoUsd) ?? [];
  // The critic is ten times as expensive as the quick worker.
  expect(costs[0]).toBeGreaterThan(8 * (costs[1] ?? 0));
  expect(costs[1]).toBeGreaterThan(0);
  expect(first?.map(({ reward }) => reward)).toEqual([0.5, 1 - (1e4 * (costs[1] ?? 0)) / 1e9]);
  const [, second] = await play(2, firsts, textOf(ACCEPT), { costWeight: 1e4 });
  expect(second?.map(({ nanoUsd, reward }) => [nanoUsd, reward])).toEqual([
    [0, 0.5],
    [0, 1],
  ]);
});
