import { samplingSeed } from '../../src/training/draw';
import { chanceOfPlan, type Optimum, toReward } from '../world/optimum';
import { questionSet, readQuestion } from '../world/questions';
import type { World } from '../world/world';
import { planIn, sampleRound } from './group';
import type { Desk, Sampled } from './lesson';
import { workersFor } from './notes';

/** Exact scores of a policy's plans on the held-out questions. */
export interface Score {
  /** Mean expected reward divided by that of the best plans; a reply that is no plan counts as 0. */
  readonly ratio: number;
  /** Ratio of the mean chances of a right answer. */
  readonly accuracyRatio: number;
  /** Share of replies that are plans. */
  readonly formatRate: number;
}

/** Plans per question at temperatures above 0. */
const SAMPLES = 8;

/** Scores a checkpoint on the held-out questions, with all workers. */
export async function tryOut(
  desk: Desk,
  optimum: Optimum,
  checkpoint: Sampled,
  temperature: number,
): Promise<Score> {
  const { recipe, seed } = desk;
  const workers = workersFor(recipe, seed);
  const chances: (number | null)[] = [];
  for (const [draw, { question }] of questionSet(recipe.world, 'heldOut', recipe.heldOut, seed).entries()) {
    const plans = temperature === 0 ? 1 : SAMPLES;
    const samples = await sampleRound(
      desk,
      checkpoint,
      { question, workers, plans },
      { seed: samplingSeed({ seed, cycle: 0, draw, round: 0, purpose: 'evaluation' }), temperature },
    );
    chances.push(...samples.map(({ text }) => chanceIn(recipe.world, question, text)));
  }
  const known = chances.filter((chance) => chance !== null);
  return {
    ratio: sum(known.map(toReward)) / chances.length / optimum.reward,
    accuracyRatio: sum(known) / chances.length / optimum.chance,
    formatRate: known.length / chances.length,
  };
}

/** Returns the exact chance that a reply's plan gives a right answer, or null if it has no plan. */
export function chanceIn(world: World, question: string, text: string): number | null {
  const plan = planIn(world, text);
  return plan && chanceOfPlan(world, readQuestion(world, question).topic, plan);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Returns NaN without values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Returns half the width of the mean's two-sided 95 % confidence interval, by the normal approximation, which is
 * close enough for dozens of values.
 */
export function halfWidth95(values: readonly number[]): number {
  const center = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1);
  return Z95 * Math.sqrt(variance / values.length);
}

/** Returns half the width of a share's 95 % confidence interval, given the number of cases. */
export function halfWidthOfShare95(share: number, cases: number): number {
  return Z95 * Math.sqrt((share * (1 - share)) / cases);
}

/** The 0.975 quantile of the standard normal distribution. */
const Z95 = 1.96;
