import type { QuestionScore } from './score';

/** A score that has a reward. */
export type GradedScore = QuestionScore & { readonly reward: number };

/** Two policies on the same question. */
export interface Pair {
  readonly candidate: GradedScore;
  readonly baseline: GradedScore;
}

/** The questions on which both could be graded. One on which only one of them could counts for neither. */
export function pairUp(candidate: readonly QuestionScore[], baseline: readonly QuestionScore[]): Pair[] {
  const others = new Map(baseline.map((score) => [score.question, score]));
  return candidate.flatMap((score) => {
    const other = others.get(score.question);
    return isGraded(score) && other !== undefined && isGraded(other)
      ? [{ candidate: score, baseline: other }]
      : [];
  });
}

/** What the candidate's reward is above the baseline's, by question. */
export function gainsOf(pairs: readonly Pair[]): number[] {
  return pairs.map(({ candidate, baseline }) => candidate.reward - baseline.reward);
}

function isGraded(score: QuestionScore): score is GradedScore {
  return score.reward !== null;
}
