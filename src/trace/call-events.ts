import type { WorkerRequest, WorkerResult, WritePlanRequest, WritePlanResult } from '../protocol/activities';
import type { Call } from '../protocol/call';
import type { CallFailure } from './read-failure';
import type { EventOf, RunEvent } from './run-event';
import { unaccountedCall, unaccountedPlan } from './unaccounted-call';

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
  const { run } = 'plan' in outcome ? outcome : { run: outcome.details?.run };
  const { checkpoint } = (request.run ?? run)?.conductor ?? {};
  // A plan that was given is nobody's, though a checkpoint would have written another.
  const isAsked = calls.length > 0 && checkpoint !== undefined;
  return { kind: 'conductor-called', calls, ...(isAsked && { checkpoint }) };
}

/** Every request that the call came to. One whose process vanished is among them, at an unknown cost. */
function callsOf(request: WritePlanRequest, outcome: WritePlanResult | CallFailure): readonly Call[] {
  if ('plan' in outcome) return outcome.calls;
  return outcome.details?.calls ?? [unaccountedPlan(request, outcome.problem)];
}
