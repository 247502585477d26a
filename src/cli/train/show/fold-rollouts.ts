import { meanOf } from '../../../training/mean-bound';
import type { Text } from '../../../protocol/text';
import type { Rollout, Verdict } from '../../../training/rollout';

/** Rollouts of one group that came to the same plan, or to no plan for the same reason. */
export interface Fold {
  readonly plan: Rollout['plan'];
  readonly problem: Rollout['problem'];
  /** In their order; never none. */
  readonly rollouts: readonly Rollout[];
  /** Over those that have a reward; null where none has. */
  readonly reward: number | null;
  readonly verdicts: readonly Tally<Verdict>[];
  readonly answers: readonly Tally<Text>[];
}

/** How often there was something, what there was most of first. */
export interface Tally<Item> {
  readonly item: Item;
  readonly count: number;
}

/** Puts equal plans together, the best rewarded first: a policy that has learned writes the same plan many times. */
export function foldRollouts(rollouts: readonly Rollout[]): Fold[] {
  const same = new Map<string, Rollout[]>();
  for (const rollout of rollouts) {
    const key = JSON.stringify([rollout.plan, rollout.problem]);
    same.set(key, [...(same.get(key) ?? []), rollout]);
  }
  const folds = [...same.values()].flatMap((members) => foldOf(members) ?? []);
  return folds.sort(
    (a, b) => (b.reward ?? -Infinity) - (a.reward ?? -Infinity) || b.rollouts.length - a.rollouts.length,
  );
}

function foldOf(rollouts: readonly Rollout[]): Fold | null {
  const [first] = rollouts;
  if (first === undefined) return null;
  return {
    plan: first.plan,
    problem: first.problem,
    rollouts,
    reward: meanReward(rollouts),
    verdicts: tally(rollouts.map(({ verdict }) => verdict)),
    answers: tally(rollouts.flatMap(({ answer }) => answer ?? [])),
  };
}

/** The mean of the rewards there are; null where there are none. */
export function meanReward(rollouts: readonly Rollout[]): number | null {
  return meanOf(rollouts.flatMap(({ reward }) => reward ?? []));
}

function tally<Item>(items: readonly Item[]): Tally<Item>[] {
  const counts = new Map<string, { item: Item; count: number }>();
  for (const item of items) {
    const key = JSON.stringify(item);
    counts.set(key, { item, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((a, b) => b.count - a.count);
}
