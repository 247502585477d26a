import type { RoundTrace, SolveTrace } from '../protocol/solve';
import { totalOf } from './cost';
import { failRounds, isOwn } from './rounds';
import { isWithin } from './run-tree';

/**
 * Merges what is now known of a child into the trace of its run, under the child's id. The run's own rounds come first,
 * then children in the order of their steps, and the review last.
 */
export function withChild(trace: SolveTrace, childId: string, child: SolveTrace): SolveTrace {
  const order = trace.rounds
    .filter(isOwn)
    .flatMap(({ steps }) => steps.flatMap((step) => step.childId ?? []));
  const isForeign = (of: OfChild): boolean => !isWithin(of.childId, childId);
  const inOrder = <Of extends OfChild>(all: readonly Of[]): Of[] =>
    [...all].sort((one, other) => rank(one.childId, order) - rank(other.childId, order));

  const isFailed = (round: RoundTrace): boolean => isOwn(round) && round.decision === 'failed';
  const explained = failRounds(child, isFailed, child.error).rounds;
  const known = explained.map((round) => ({ ...round, childId: round.childId ?? childId }));
  // If the child has no round yet, the run's own record of it stands.
  const rounds = known.length === 0 ? trace.rounds : [...trace.rounds.filter(isForeign), ...known];
  const made = child.calls.map((call) => ({ ...call, childId: call.childId ?? childId }));
  const calls = inOrder([...trace.calls.filter(isForeign), ...made]);
  return {
    ...trace,
    rounds: inOrder(rounds),
    calls,
    ...totalOf(calls),
    degraded: trace.degraded || child.degraded,
    stoppedBy: trace.stoppedBy ?? child.stoppedBy,
    ...(child.waitsFor && { waitsFor: child.waitsFor }),
  };
}

interface OfChild {
  readonly childId?: string | null;
}

/** Returns 0 for the run's own entries; a child without a step is a review, and comes last. */
function rank(id: string | null | undefined, order: readonly string[]): number {
  if (id === null || id === undefined) return 0;
  const position = order.findIndex((childId) => isWithin(id, childId));
  return position === -1 ? order.length + 1 : position + 1;
}
