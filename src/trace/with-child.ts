import type { SolveTrace } from '../protocol/solve';
import { isWithin } from './kinship';
import { totalOf } from './total';

/**
 * The trace of a run with what is known of one of its children, running or ended, put in place of what it held of that
 * child before. Pure, and safe in the sandbox: the workflow does it when a child has ended, a client whenever it looks.
 *
 * Rounds and calls of the child's own get its id; those of its own children have theirs already. The run's own rounds
 * come first, then its children in the order of the steps they were started for, and the review last. What a child
 * lost, what stopped it and whether it waits for a person is true of the whole run.
 *
 * @param childId workflow id of the child, which those of all its descendants begin with
 */
export function withChild(trace: SolveTrace, childId: string, child: SolveTrace): SolveTrace {
  const isForeign = (of: { childId?: string | null }): boolean => !isWithin(of.childId, childId);
  const order = childrenOfSteps(trace);
  const inOrder = <Of extends { childId?: string | null }>(all: readonly Of[]): Of[] =>
    [...all].sort((one, other) => rank(one.childId, order) - rank(other.childId, order));

  const known = child.rounds.map((round) => ({ ...round, childId: round.childId ?? childId }));
  // Nothing is planned yet: what the run itself says of the child stands.
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

function childrenOfSteps({ rounds }: SolveTrace): string[] {
  const own = rounds.filter((round) => round.childId === null);
  return own.flatMap(({ steps }) => steps.flatMap((step) => step.childId ?? []));
}

/** 0 for what is the run's own; a child of no step is a review, and comes last. */
function rank(id: string | null | undefined, order: readonly string[]): number {
  if (id === null || id === undefined) return 0;
  const position = order.findIndex((childId) => isWithin(id, childId));
  return position === -1 ? order.length + 1 : position + 1;
}
