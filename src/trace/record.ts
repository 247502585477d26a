import {
  purposeOf,
  type WorkerRequest,
  type WorkerResult,
  type WritePlanRequest,
  type WritePlanResult,
} from '../protocol/activities';
import type { Call, Problem, Usage } from '../protocol/call';
import { CONDUCTOR_ID } from '../protocol/names';
import type { RoundTrace, SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { CallFailure } from './read-failure';
import type { EventOf, RunEvent, StepAddress } from './run-event';

/** A worker was asked. */
export function stepStarted(request: WorkerRequest, at: string): RunEvent {
  const { round, step, worker, fallbackFor } = request;
  const model = worker.kind === 'model' ? worker.model : worker.type;
  return {
    kind: 'step-started',
    round,
    step,
    worker: worker.id,
    model,
    fallbackFor: fallbackFor ?? null,
    at,
  };
}

/** A worker answered. */
export function stepAnswered(request: WorkerRequest, result: WorkerResult): RunEvent {
  const { round, step } = request;
  return { kind: 'step-answered', round, step, ...result };
}

/** A worker failed; whether the step is lost depends on what is tried next. */
export function stepFailed(
  request: WorkerRequest,
  { problem, details }: CallFailure,
  at: string,
): EventOf<'step-failed'> {
  const { round, step } = request;
  return {
    kind: 'step-failed',
    round,
    step,
    problem,
    output: details?.partial ?? '',
    calls: details?.calls ?? [unaccountedCall(request, problem, null)],
    dropped: details?.dropped ?? [],
    endedAt: details?.endedAt ?? at,
  };
}

/** The Conductor was asked, and answered or not. */
export function conductorCalled(
  request: WritePlanRequest,
  outcome: WritePlanResult | CallFailure,
): EventOf<'conductor-called'> {
  const calls = callsOf(request, outcome);
  const { checkpoint } = request.run.conductor;
  const isAsked = calls.length > 0 && checkpoint !== undefined;
  return { kind: 'conductor-called', calls, ...(isAsked && { checkpoint }) };
}

/** Every request that the call came to. One whose process vanished is among them, at an unknown cost. */
function callsOf(request: WritePlanRequest, outcome: WritePlanResult | CallFailure): readonly Call[] {
  if ('plan' in outcome) return outcome.calls;
  return outcome.details?.calls ?? [unaccountedPlan(request, outcome.problem)];
}

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

// A call that has no row in our ledger: made by the user's own activity or workflow, or by a worker process that
// vanished without a word. It counts, with an unknown cost, so that no sum claims more than is known.

/** Such a call of a step's worker. */
export function unaccountedCall(request: WorkerRequest, error: Problem | null, usage: Usage | null): Call {
  const { round, step, worker } = request;
  return {
    callId: `unaccounted/${round}/${step}/${worker.id}`,
    purpose: 'step',
    round,
    step,
    attempt: 1,
    worker: worker.id,
    model: worker.kind === 'model' ? worker.model : worker.type,
    error,
    usage,
    nanoUsd: null,
  };
}

/** Such a call of the Conductor. */
function unaccountedPlan(request: WritePlanRequest, error: Problem): Call {
  const { round, repairs, run } = request;
  return {
    callId: `unaccounted/${round}/${CONDUCTOR_ID}/${repairs.length}`,
    purpose: purposeOf(request),
    round,
    step: null,
    attempt: 1,
    worker: CONDUCTOR_ID,
    model: run?.conductor.model ?? '',
    error,
    usage: null,
    nanoUsd: null,
  };
}
