import type { Call } from '../protocol/call';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import type { StepAddress } from './run-event';
import { totalOf } from './total';

/** Changes the run's own round of this number. A run has one plan of its own; what its children planned is theirs. */
export function changeRound(
  trace: SolveTrace,
  round: number,
  change: (round: RoundTrace) => RoundTrace,
): SolveTrace {
  const rounds = trace.rounds.map((each) => (isOwn(each) && each.round === round ? change(each) : each));
  return { ...trace, rounds };
}

/** Changes one step of the run's own plan. */
export function changeStep(
  trace: SolveTrace,
  at: StepAddress,
  change: (step: StepTrace) => StepTrace,
): SolveTrace {
  return changeRound(trace, at.round, (round) => ({
    ...round,
    steps: round.steps.map((step) => (step.index === at.step ? change(step) : step)),
  }));
}

/** Adds calls and the sums over all of them. */
export function withCalls(trace: SolveTrace, added: readonly Call[]): SolveTrace {
  const calls = [...trace.calls, ...added.map((call) => ({ ...call }))];
  return { ...trace, calls, ...totalOf(calls) };
}

/** Ends the wait for a person, if there was one. */
export function endWait(trace: SolveTrace): SolveTrace {
  const { waitsFor, ...running } = trace;
  return waitsFor === undefined ? trace : running;
}

/** Whether a round is the run's own, and not a child's. */
export function isOwn({ childId }: RoundTrace): boolean {
  return childId === null;
}
