import { parsePlan } from '../../../src/plan/parse';
import type { Plan } from '../../../src/plan/plan';
import { PlanError } from '../../../src/plan/plan-error';
import { chanceOfPlan, questionSet, readQuestion } from '../../../src/testing/world';
import type { Optimum, World } from '../../../src/testing/world';
import { toReward } from '../../../src/testing/world/value-plan';
import { samplingSeed } from '../../../src/training/seeds';
import { samplePlans, type Desk, type Sampled } from './lesson';

/** What a policy's plans are exactly worth on the held-out questions. */
export interface Score {
  /** Mean expected reward over that of the best plans; a reply that is no plan counts 0. */
  readonly ratio: number;
  /** The same of the chances to be right. */
  readonly accuracyRatio: number;
  /** Share of replies that are plans. */
  readonly formatRate: number;
}

/** Plans a question, where they are sampled at all. */
const SAMPLES = 8;

/** Tries a checkpoint on the held-out questions. */
export async function tryOut(
  desk: Desk,
  optimum: Optimum,
  checkpoint: Sampled,
  temperature: number,
): Promise<Score> {
  const { recipe, seed } = desk;
  const chances: (number | null)[] = [];
  for (const [draw, { question }] of questionSet(recipe.world, 'heldOut', recipe.heldOut, seed).entries()) {
    const { samples } = await samplePlans(desk, checkpoint, question, {
      n: temperature === 0 ? 1 : SAMPLES,
      seed: samplingSeed({ seed, cycle: 0, draw, round: 0, purpose: 'evaluation' }),
      temperature,
    });
    chances.push(...samples.map(({ text }) => chanceIn(recipe.world, question, text)));
  }
  const known = chances.filter((chance) => chance !== null);
  return {
    ratio: sum(known.map(toReward)) / chances.length / optimum.reward,
    accuracyRatio: sum(known) / chances.length / optimum.chance,
    formatRate: known.length / chances.length,
  };
}

/** The plan in a reply; null where there is none. */
export function planIn({ workers, maxSteps }: World, text: string): Plan | null {
  try {
    return parsePlan(text, { workers: workers.map(({ id }) => id), maxSteps, round: 0 });
  } catch (error) {
    if (error instanceof PlanError) return null;
    throw error;
  }
}

function chanceIn(world: World, question: string, text: string): number | null {
  const plan = planIn(world, text);
  return plan && chanceOfPlan(world, readQuestion(world, question).topic, plan);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
