import type { Rollout } from './rollout';
import type { RewardSettings } from './settings';

/**
 * What a rollout earns: `unparseable`, `parseable` or `correct` (paper section 3.1: 0, 0.5 and 1; its supplementary
 * code: 0, 0.5 and 1.5).
 *
 * `costWeight` and `lengthWeight` make right answers worth less the more they cost, down to what a wrong one earns and
 * never below: it must always pay to be right.
 *
 * Null if it could not be judged, or where a cost that counts is unknown.
 */
export function rewardOf(
  { verdict, plan, nanoUsd }: Pick<Rollout, 'verdict' | 'plan' | 'nanoUsd'>,
  settings: RewardSettings,
): number | null {
  const { unparseable, parseable, correct, costWeight, lengthWeight } = settings;
  if (verdict === 'ungraded') return null;
  if (verdict === 'unparseable') return unparseable;
  if (verdict === 'wrong') return parseable;
  if (costWeight > 0 && nanoUsd === null) return null;
  const cost = (costWeight * (nanoUsd ?? 0)) / 1e9;
  const length = lengthWeight * Math.max(0, (plan?.steps.length ?? 0) - 1);
  return Math.max(correct - cost - length, Math.min(correct, parseable));
}

/**
 * What the first of two rounds earns: its own reward, and a share of what its second round made of it (paper section
 * A.1, where the share is 0.25). null where either could not be graded.
 */
export function rewardOfRoot(first: number | null, second: number | null, discount: number): number | null {
  return first === null || second === null ? null : (1 - discount) * first + discount * second;
}

/**
 * Whether anything can be learned from a group: at least two rewards, not all equal. Rollouts without a reward do not
 * count. Where all are equal every advantage is 0, and the group would only make the batch smaller.
 */
export function hasSpread(rewards: readonly (number | null)[]): boolean {
  return new Set(rewards.filter((reward) => reward !== null)).size > 1;
}
