import type { Problem, RoundTrace, SolveTrace } from '../protocol/solve';

/** Returns whether a round is the run's own, and not one of a run below. */
export function isOwn({ childId }: RoundTrace): boolean {
  return childId === null;
}

export function withError({ ...round }: RoundTrace, error: Problem | null): RoundTrace {
  delete round.error;
  return error === null ? round : { ...round, error };
}

/**
 * Marks rounds as failed.
 * @param problem reason for rounds that have no error of their own
 */
export function failRounds(
  trace: SolveTrace,
  fails: (round: RoundTrace) => boolean,
  problem: Problem | null = null,
): SolveTrace {
  const decision = 'failed' as const;
  const rounds = trace.rounds.map((round) =>
    fails(round) ? { ...withError(round, round.error ?? problem), decision } : round,
  );
  return { ...trace, rounds };
}
