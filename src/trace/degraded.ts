import { CONDUCTOR_ID } from '../plan/plan';
import type { Problem } from '../protocol/call';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import { isReview, pathOf } from './run-tree';

/** Why a run is degraded: a line for each thing that failed for good, with its place in the tree. */
export function whyDegraded(trace: SolveTrace): string[] {
  if (!trace.degraded) return [];
  return linesOf(trace, (round) => [...standInsOf(round), ...round.steps.flatMap(failureOf)]);
}

/** The part of it that is no step's own error: who stands in for whom, and which review came to nothing. */
export function whoStandsIn(trace: SolveTrace): string[] {
  return linesOf(trace, standInsOf);
}

function linesOf(trace: SolveTrace, tell: (round: RoundTrace) => string[]): string[] {
  return trace.rounds.flatMap((round) =>
    tell(round).map((line) => pathOf(trace, round) + line.replace(/\s+/g, ' ')),
  );
}

function standInsOf(round: RoundTrace): string[] {
  return [...planOf(round), ...round.steps.flatMap(fallbackOf)];
}

/** A plan beside an error is that of a stand-in; while there is none, the Conductor may still be asked again. */
function planOf(round: RoundTrace): string[] {
  const { plan, error, decision } = round;
  if (error === undefined) return [];
  if (isReview(round) && decision === 'failed') {
    return [`the review came to nothing, and the answer before it stands: ${error.message}`];
  }
  const [first, ...others] = plan?.steps ?? [];
  if (first === undefined) return [];
  const who = others.length === 0 ? first.worker : 'a plan of a person';
  return [`${who} stands in for the Conductor: ${error.message}`];
}

function fallbackOf({ index, worker, fallbackFor, skipped = [] }: StepTrace): string[] {
  if (fallbackFor === null) return [];
  const reasons = fallbackFor === CONDUCTOR_ID ? ['the depth was lowered'] : skipped.map(messageOf);
  return [[`step ${index + 1}: ${worker} stands in for ${fallbackFor}`, ...reasons].join(': ')];
}

function messageOf({ error }: { readonly error: Problem }): string {
  return error.message;
}

function failureOf({ index, worker, error }: StepTrace): string[] {
  return error === null ? [] : [`step ${index + 1} (${worker}) failed: ${error.message}`];
}
