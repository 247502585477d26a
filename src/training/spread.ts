/**
 * Whether anything can be learned from a group: at least two rewards, not all equal. Rollouts without a reward do not
 * count.
 *
 * Where all are equal every advantage is 0, and the group would only make the batch smaller.
 */
export function hasSpread(rewards: readonly (number | null)[]): boolean {
  return new Set(rewards.filter((reward) => reward !== null)).size > 1;
}
