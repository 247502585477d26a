import type { Problem } from '../protocol/call';
import { CONDUCTOR_ID } from '../protocol/names';
import type { RoundTrace, SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { RunEvent, StepAddress } from './run-event';

/** What came of a child. */
export interface ChildOutcome {
  /** null where it vanished without leaving one. */
  readonly trace: SolveTrace | null;
  /** null where it completed. */
  readonly problem: Problem | null;
}

/** The Conductor was given a step of its own plan. */
export function ownStepStarted(
  address: StepAddress,
  { childId, model }: { readonly childId: string; readonly model: string },
  at: string,
): RunEvent {
  return { kind: 'step-started', ...address, worker: CONDUCTOR_ID, model, fallbackFor: null, childId, at };
}

/** Such a step is over. Its calls are told by its child. */
export function ownStepEnded(
  address: StepAddress,
  { trace, problem }: ChildOutcome,
  { startedAt, endedAt }: { readonly startedAt: string; readonly endedAt: string },
): RunEvent {
  const how = { ...address, calls: [], dropped: [], endedAt };
  if (problem !== null) return { kind: 'step-failed', ...how, problem, output: '' };
  return { kind: 'step-answered', ...how, output: trace?.answer ?? '', startedAt };
}

/**
 * The answer that a review put in the place of the one it was about; null where that one stands. An empty plan accepts
 * it; a corrective one was run, and its answer is the child's.
 */
export function revisionIn({ trace, problem }: ChildOutcome, round: number): Text | null {
  if (trace === null || problem !== null) return null;
  const own = trace.rounds.find((each) => each.childId === null && each.round === round);
  return (own?.plan?.steps.length ?? 0) > 0 ? trace.answer : null;
}

/** What a review did to the round it was about. */
export function reviewed(round: number, revision: Text | null): RunEvent {
  const decision: RoundTrace['decision'] = revision === null ? 'accepted' : 'revised';
  return { kind: 'decided', round, decision };
}
