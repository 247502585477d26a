import { meanOf, meanOfAll, sumOfAll } from '../statistics/statistics';
import { groupBy } from '../statistics/tally';
import type { PolicyRef } from './names';
import type { GroupRecord, Rollout } from './records';
import type { RewardSettings } from './inputs';

export interface QuestionScore {
  readonly question: string;
  readonly reward: number | null;
  /** Mean cost of a rollout, all its rounds together, in 10⁻⁹ USD; null if a price is unknown. */
  readonly nanoUsd: number | null;
}

export interface ScoredPolicy {
  readonly policy: PolicyRef;
  readonly scores: readonly QuestionScore[];
}

export type Pair = Record<'candidate' | 'baseline', QuestionScore & { readonly reward: number }>;

/** Pairs the scores of the questions on which both policies could be graded, and drops all others. */
export function pairUp(candidate: readonly QuestionScore[], baseline: readonly QuestionScore[]): Pair[] {
  const others = new Map(baseline.map((score) => [score.question, score]));
  return candidate.flatMap((score) => {
    const other = others.get(score.question);
    if (score.reward === null || other === undefined || other.reward === null) return [];
    return [{ candidate: { ...score, reward: score.reward }, baseline: { ...other, reward: other.reward } }];
  });
}

export function gainsOf(pairs: readonly Pair[]): number[] {
  return pairs.map(({ candidate, baseline }) => candidate.reward - baseline.reward);
}

/** Scores each question that a policy was tried on; several teams on one question count as their mean. */
export function scoreQuestions(groups: readonly GroupRecord[]): QuestionScore[] {
  return Array.from(
    groupBy(groups, ({ question }) => question),
    ([question, asked]) => {
      const teams = [...groupBy(asked, ({ draw }) => draw).values()].map(scoreRounds);
      return {
        question,
        reward: meanOfAll(teams.map(({ reward }) => reward)),
        nanoUsd: meanOfAll(teams.map(({ nanoUsd }) => nanoUsd)),
      };
    },
  );
}

/** Sums up a group's rounds as in serving: a reviewed answer no longer counts, but its cost does. */
export function scoreRounds(rounds: readonly GroupRecord[]): Omit<QuestionScore, 'question'> {
  const [first, ...reviews] = rounds.toSorted((a, b) => a.round - b.round);
  const reviewing = reviews.flatMap(({ rollouts }) => rollouts);
  const reviewed = new Set(reviewing.map(({ root }) => root));
  const begun = first?.rollouts ?? [];
  const final = [...begun.filter(({ index }) => !reviewed.has(index)), ...reviewing];
  const cost = sumOfAll([...begun, ...reviewing].map(({ nanoUsd }) => nanoUsd));
  return {
    reward: meanOf(final.flatMap(({ reward }) => reward ?? [])),
    nanoUsd: cost === null || final.length === 0 ? null : cost / final.length,
  };
}

/**
 * Returns a rollout's reward (paper section 3.1); null if it could not be judged, or if a cost that counts is unknown.
 * The weights lower the reward of a right answer by cost and length, but never below a wrong one's.
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

/** Returns settings by which neither cost nor length counts; null if they do not count anyway. */
export function outcomesOnly(settings: RewardSettings): RewardSettings | null {
  const { costWeight, lengthWeight } = settings;
  return costWeight > 0 || lengthWeight > 0 ? { ...settings, costWeight: 0, lengthWeight: 0 } : null;
}

/** Mixes the second round's reward into the first's, with weight `discount` (paper section A.1: 0.25). */
export function rewardOfRoot(first: number | null, second: number | null, discount: number): number | null {
  return first === null || second === null ? null : (1 - discount) * first + discount * second;
}

/** Share of what separates a right answer from a wrong one, from which on differences in cost or length count. */
const MATERIAL = 0.1;

/** Returns the difference in reward from which on equally good answers are worth comparing. */
export function materialSpread({ parseable, correct }: RewardSettings): number {
  return MATERIAL * (correct - parseable);
}

/**
 * Splits a group into the parts whose rewards are compared, and keeps those that belong in the batch. A part from which
 * hardly anything is learned, since its outcomes are equal and its rewards differ by less than `material`, is dropped
 * unless `keepFlat`, as in the paper, lets its tokens count in the loss's denominator. A part without any reward is
 * always dropped.
 */
export function learnableParts<Each extends ComparedReward>(
  group: readonly Each[],
  { keepFlat, material = Infinity }: { readonly keepFlat: boolean; readonly material?: number | undefined },
): (readonly Each[])[] {
  const parts = [...groupBy(group, ({ baseline }) => baseline).values()];
  return parts.filter((part) => {
    const rewards = part.flatMap(({ reward }) => reward ?? []);
    if (keepFlat || rewards.length === 0) return rewards.length > 0;
    return (
      new Set(part.flatMap(knownOutcome)).size > 1 || Math.max(...rewards) - Math.min(...rewards) >= material
    );
  });
}

function knownOutcome({ reward, outcome = reward }: ComparedReward): number[] {
  return reward === null || outcome === null ? [] : [outcome];
}

interface ComparedReward {
  readonly reward: number | null;
  readonly outcome?: number | null | undefined;
  readonly baseline?: string | undefined;
}
