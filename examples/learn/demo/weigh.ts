import type { CheckpointRef } from '../../../src/training/manifest';
import { createAskPolicy } from '../../../src/training/policy/ask';
import { readManifest } from '../../../src/training/policy/serving';
import type { Recipe } from '../plain/recipe';
import { type Score, tryOut } from '../plain/scoring';
import type { Optimum } from '../world/optimum';
import type { Town } from './town';

/** What a policy's plans are compared with. */
export interface Yardstick {
  readonly recipe: Recipe;
  readonly seed: number;
  readonly optimum: Optimum;
}

/** What a policy is worth at the temperatures of training, of serving, and always the likeliest token. */
export interface Worth {
  readonly hot: Score;
  readonly cool: Score;
  readonly greedy: Score;
}

/** Has a checkpoint plan for the held-out questions at each of the temperatures. */
export async function weigh(yardstick: Yardstick, town: Town, checkpoint: CheckpointRef): Promise<Worth> {
  const hot = await tryAt(yardstick, town, checkpoint, 1);
  const cool = await tryAt(yardstick, town, checkpoint, 0.2);
  return { hot, cool, greedy: await tryAt(yardstick, town, checkpoint, 0) };
}

/** The same at one of them. */
export async function tryAt(
  { recipe, seed, optimum }: Yardstick,
  { store, policyUrl }: Town,
  checkpoint: CheckpointRef,
  temperature: number,
): Promise<Score> {
  const sampled = await readManifest(store, checkpoint);
  return tryOut({ recipe, seed, ask: createAskPolicy(), policyUrl }, optimum, sampled, temperature);
}

/** Ratio of rewards, of accuracies, and the share of replies that are plans. */
export function describeWorth({ hot, cool, greedy }: Worth): string {
  const told = Object.entries({ 'T=1': hot, 'T=0.2': cool, greedy });
  return told
    .map(
      ([name, { ratio, accuracyRatio, formatRate }]) =>
        `${name} ${ratio.toFixed(3)} (of accuracy ${accuracyRatio.toFixed(3)}, plans ${formatRate.toFixed(2)})`,
    )
    .join('  ');
}
