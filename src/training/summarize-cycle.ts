import type { CycleMetrics } from './progress';
import type { GroupRecord, Rollout, Verdict } from './rollout';
import { topologyOf } from './topology';

/** The part of a cycle's figures that its rollouts tell. */
export type RolloutMetrics = Pick<
  CycleMetrics,
  | 'rewardMean'
  | 'rewardSpread'
  | 'formatRate'
  | 'verdicts'
  | 'draws'
  | 'planLength'
  | 'workerShares'
  | 'topologyShares'
  | 'workerTokens'
  | 'planTokens'
  | 'usd'
>;

/** Sums up the groups of a cycle, those without spread included. A mean over nothing is 0. */
export function summarizeCycle(groups: readonly GroupRecord[]): RolloutMetrics {
  const rollouts = groups.flatMap((group) => group.rollouts);
  const plans = rollouts.flatMap(({ plan }) => plan ?? []);
  const rewards = rollouts.flatMap(({ reward }) => reward ?? []);
  const rewardMean = meanOf(rewards);
  return {
    rewardMean,
    rewardSpread: Math.sqrt(meanOf(rewards.map((reward) => (reward - rewardMean) ** 2))),
    formatRate: rollouts.length === 0 ? 0 : plans.length / rollouts.length,
    verdicts: countVerdicts(rollouts),
    draws: new Set(groups.map(({ draw }) => draw)).size,
    planLength: meanOf(plans.map(({ steps }) => steps.length)),
    workerShares: sharesOf(plans.flatMap(({ steps }) => steps.map(({ worker }) => worker))),
    topologyShares: sharesOf(plans.flatMap((plan) => topologyOf(plan) ?? [])),
    workerTokens: meanOf(rollouts.map(({ usage }) => usage.inputTokens + usage.outputTokens)),
    planTokens: meanOf(rollouts.map(({ tokens }) => tokens)),
    usd: meanCost(rollouts),
  };
}

function countVerdicts(rollouts: readonly Rollout[]): Record<Verdict, number> {
  const counts = { correct: 0, wrong: 0, unparseable: 0, ungraded: 0 };
  for (const { verdict } of rollouts) counts[verdict]++;
  return counts;
}

/** How often each of the words is there, as a share of them all. */
function sharesOf(words: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries([...counts].map(([word, count]) => [word, count / words.length]));
}

function meanCost(rollouts: readonly Rollout[]): number | null {
  const costs = rollouts.flatMap(({ nanoUsd }) => nanoUsd ?? []);
  return costs.length === rollouts.length ? meanOf(costs) / 1e9 : null;
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
}
