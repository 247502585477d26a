import type { PolicyRef } from './evaluation';
import type { GroupRecord, Rollout } from './rollout';

/** What one policy came to on one question that it was tried on. */
export interface QuestionScore {
  /** Id of the question. */
  readonly question: string;
  /** Mean over the rollouts that could be graded; null where none could. */
  readonly reward: number | null;
  /** Mean cost of a rollout, all its rounds together, in 10⁻⁹ USD; null where a price is unknown. */
  readonly nanoUsd: number | null;
}

/** A policy, and what it came to on each question that it was tried on. */
export interface ScoredPolicy {
  readonly policy: PolicyRef;
  readonly scores: readonly QuestionScore[];
}

/**
 * Sums up the groups in which a policy was tried, a score for each question. Where rollouts were reviewed in a second
 * round, its answers count in place of theirs, and both are paid for: so it is when a policy serves.
 */
export function scoreQuestions(groups: readonly GroupRecord[]): QuestionScore[] {
  const questions = [...new Set(groups.map(({ question }) => question))];
  return questions.map((question) =>
    scoreRounds(
      question,
      groups.filter((group) => group.question === question),
    ),
  );
}

function scoreRounds(question: string, rounds: readonly GroupRecord[]): QuestionScore {
  const [first, ...reviews] = [...rounds].sort((a, b) => a.round - b.round);
  const reviewing = reviews.flatMap(({ rollouts }) => rollouts);
  const reviewed = new Set(reviewing.map(({ root }) => root));
  const begun = first?.rollouts ?? [];
  const final = [...begun.filter(({ index }) => !reviewed.has(index)), ...reviewing];
  const rewards = final.flatMap(({ reward }) => reward ?? []);
  return {
    question,
    reward: rewards.length === 0 ? null : sum(rewards) / rewards.length,
    nanoUsd: costOf([...begun, ...reviewing], final.length),
  };
}

function costOf(rollouts: readonly Rollout[], answers: number): number | null {
  const costs = rollouts.flatMap(({ nanoUsd }) => nanoUsd ?? []);
  return answers === 0 || costs.length < rollouts.length ? null : sum(costs) / answers;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
