import { groupBy, meanOf, meanOfAll, sumOfAll } from '../evaluation/statistics';
import type { PolicyRef } from './checkpoint-ref';
import type { GroupRecord } from './rollout';

/** Score of one policy on one question. */
export interface QuestionScore {
  /** Its id. */
  readonly question: string;
  /** Mean over the rollouts that could be graded; null where none could. */
  readonly reward: number | null;
  /** Mean cost of a rollout, all its rounds together, in 10⁻⁹ USD; null where a price is unknown. */
  readonly nanoUsd: number | null;
}

export interface ScoredPolicy {
  readonly policy: PolicyRef;
  readonly scores: readonly QuestionScore[];
}

export type Pair = Record<'candidate' | 'baseline', QuestionScore & { readonly reward: number }>;

/** The questions on which both could be graded. One on which only one of them could counts for neither. */
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

/**
 * Sums up the groups in which a policy was tried, a score for each question. One that was asked of several teams counts
 * as the mean of them.
 */
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

/**
 * Sums up the rounds of one group. Where rollouts were reviewed in a second round, its answers count in place of theirs,
 * and both are paid for: so it is when a policy serves.
 */
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
