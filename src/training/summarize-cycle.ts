import { type Failure, failureOf } from '../evaluation/failure-kinds';
import type { Verdict } from '../grading/grade';
import { topologyOf } from '../plan/topology';
import type { CloseCycleRequest } from './contract';
import type { CycleMetrics, CycleTimes, GroupPart, Span, TopicMetrics } from './progress';
import type { GroupRecord } from './rollout';
import { meanOf, sharesOf, tally } from '../evaluation/statistics';

/** The figures of a cycle that come from its rollouts, groups without spread included. A mean over nothing is 0. */
export function summarizeCycle(
  groups: readonly GroupRecord[],
): Omit<CycleMetrics, keyof CloseCycleRequest | 'schema' | 'trainRun' | 'at' | 'collapse'> {
  const rollouts = groups.flatMap((group) => group.rollouts);
  const plans = rollouts.flatMap(({ plan }) => plan ?? []);
  const rewards = rollouts.flatMap(({ reward }) => reward ?? []);
  const costs = rollouts.flatMap(({ nanoUsd }) => nanoUsd ?? []);
  const rewardMean = mean(rewards);
  const verdicts: Record<Verdict, number> = { correct: 0, wrong: 0, unparseable: 0, ungraded: 0 };
  for (const { verdict } of rollouts) verdicts[verdict] += 1;
  return {
    rewardMean,
    rewardSpread: Math.sqrt(mean(rewards.map((reward) => (reward - rewardMean) ** 2))),
    formatRate: rollouts.length === 0 ? 0 : plans.length / rollouts.length,
    verdicts,
    draws: new Set(groups.map(({ draw }) => draw)).size,
    planLength: mean(plans.map(({ steps }) => steps.length)),
    workerShares: sharesOf(tally(plans.flatMap(({ steps }) => steps.map(({ worker }) => worker)))),
    topologyShares: sharesOf(tally(plans.flatMap((plan) => topologyOf(plan) ?? []))),
    topics: topicsOf(groups.filter(({ round }) => round === 0)),
    failureShares: sharesOf(tally(groups.flatMap((group) => failuresIn(group, groups)))),
    workerTokens: mean(rollouts.map(({ usage }) => usage.inputTokens + usage.outputTokens)),
    planTokens: mean(rollouts.map(({ tokens }) => tokens)),
    usd: costs.length === rollouts.length ? mean(costs) / 1e9 : null,
  };
}

/** By what the rollouts of a group failed that did; what workers had in between is not kept, nor what they know alone. */
function failuresIn(group: GroupRecord, groups: readonly GroupRecord[]): Failure[] {
  const pool = Object.fromEntries(group.workers.map((worker) => [worker, null]));
  const first =
    group.round === 0 ? undefined : groups.find(({ draw, round }) => draw === group.draw && round === 0);
  return group.rollouts.flatMap((rollout) => {
    const reviewed = first?.rollouts.find(({ index }) => index === rollout.root);
    const rounds = [...(reviewed === undefined ? [] : [reviewed]), rollout].map(({ plan, verdict }) => ({
      plan,
      outputs: [],
      answer: verdict,
    }));
    return failureOf({ rounds, answer: rollout.verdict, pool }) ?? [];
  });
}

function topicsOf(groups: readonly GroupRecord[]): Record<string, TopicMetrics> {
  const topics: Record<string, TopicMetrics> = {};
  for (const { topic = '', rollouts } of groups) {
    const sums = (topics[topic] ??= { plans: 0, shapes: {}, graded: 0, right: 0 });
    for (const { plan, verdict } of rollouts) {
      if (verdict !== 'ungraded') sums.graded += 1;
      if (verdict === 'correct') sums.right += 1;
      if (plan === null) continue;
      const shape = JSON.stringify(plan.steps.map(({ sees }) => sees));
      sums.plans += 1;
      sums.shapes[shape] = (sums.shapes[shape] ?? 0) + 1;
    }
  }
  return topics;
}

function mean(numbers: readonly number[]): number {
  return meanOf(numbers) ?? 0;
}

export type CyclePart = GroupPart | 'update' | 'publish';

/**
 * Sums up when the parts of a cycle were under way.
 *
 * @param from when the cycle began; what was done for it ahead was done in the cycle before
 */
export function cycleTimes(spans: readonly Span<CyclePart>[], from: number, to: number): CycleTimes {
  const of = (part: CyclePart): number => covered(spans.filter((span) => span.part === part));
  return {
    sampling: of('sampling'),
    rollouts: of('rollouts'),
    grading: of('grading'),
    update: of('update'),
    publish: of('publish'),
    between:
      to -
      from -
      covered(
        spans.filter((span) => span.to > from),
        from,
      ),
    whole: to - from,
  };
}

/** How long at least one of the spans was under way: what overlaps counts once. */
function covered(spans: readonly Span[], since = -Infinity): number {
  const ordered = spans.toSorted((one, other) => one.from - other.from);
  let sum = 0;
  let end = since;
  for (const { from, to } of ordered) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}
