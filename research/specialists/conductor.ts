import { shuffled } from '../../src/statistics/chance';
import type { Plan } from '../../src/plan/plan';
import { conductorMessages } from '../../src/plan/prompt/conductor';
import { renderPlan } from '../../src/plan/render';
import { tinyPrompt } from '../support/tiny-prompt';
import type { WarmStartExample } from '../world/warm-start';
import { type Dice, diceFor } from '../world/world';
import { drawQuestion } from './questions';
import type { Recipe } from './recipe';
import { type Phrase, toSubtask } from './skills';

// The Conductor before any reward: it knows the format of plans, but not what makes a plan good.

/** Maximum steps of a plan. */
export const LONGEST_PLAN = 3;

/** Settings of the Conductor's prompt. */
export const PROMPT = {
  style: 'compact',
  describe: 'ordinals',
  access: 'binary',
  maxSteps: LONGEST_PLAN,
  format: 'lists',
  repairs: [],
} as const;

/**
 * Returns valid plans with uniformly drawn lengths, workers and access. Their subtasks use phrases of the question in
 * any order: a network of random weights must learn to copy, which a language model already can.
 */
export function evenExamples(
  ids: readonly string[],
  { sets }: Pick<Recipe, 'sets'>,
  count: number,
  ...name: readonly (string | number)[]
): WarmStartExample[] {
  const dice = diceFor('even plans', ...name);
  const workers = ids.map((id) => ({ id, notes: null }));
  const compositions = sets.flatMap(([, each]) => each);
  return Array.from({ length: count }, () => {
    const { question, phrases } = drawQuestion(dice.pick(compositions), 'train', dice);
    return {
      prompt: tinyPrompt(conductorMessages({ ...PROMPT, question, workers })),
      completion: renderPlan(drawEcho(ids, phrases, dice), ids),
    };
  });
}

/** Draws a plan uniformly in all its parts. */
export function drawPlan(ids: readonly string[], phrases: readonly Phrase[], dice: Dice): Plan {
  const drawn = Array.from({ length: drawLength(dice) }, () => dice.pick(phrases));
  return planOf(ids, drawn, dice);
}

/** Draws a plan from a question's phrases in any order; none is repeated before all were used. */
function drawEcho(ids: readonly string[], own: readonly Phrase[], dice: Dice): Plan {
  const rounds = Array.from({ length: LONGEST_PLAN }, () => shuffled(own, () => dice.roll()));
  return planOf(ids, rounds.flat().slice(0, drawLength(dice)), dice);
}

function drawLength(dice: Dice): number {
  return 1 + Math.floor(dice.roll() * LONGEST_PLAN);
}

function planOf(ids: readonly string[], phrases: readonly Phrase[], dice: Dice): Plan {
  const steps = phrases.map((phrase, index) => ({
    worker: dice.pick(ids),
    subtask: toSubtask(phrase),
    sees: dice.happens(0.5) ? [] : Array.from({ length: index }, (_, earlier) => earlier),
  }));
  return { steps };
}
