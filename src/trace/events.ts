import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { CONDUCTOR_ID, type Plan } from '../plan/plan';
import {
  purposeOf,
  type WorkerRequest,
  type WorkerResult,
  type WritePlanRequest,
  type WritePlanResult,
} from '../protocol/activities';
import type { Call, Problem, Usage } from '../protocol/call';
import { type CallFailureDetails, FAILURES } from '../protocol/failures';
import type { RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';

/** Which step of which round an event is about. */
export interface StepAddress {
  readonly round: number;
  readonly step: number;
}

/**
 * What can happen to a run, as far as its trace is concerned. The workflow records these as it goes, and the same ones
 * are read back from a history, so that a run looks the same live, finished, and from a machine without a worker.
 */
export type RunEvent =
  | { readonly kind: 'plan-asked'; readonly round: number; readonly depth: number }
  | {
      readonly kind: 'conductor-called';
      readonly calls: readonly Call[];
      /** The checkpoint that was asked, where the Conductor is one. */
      readonly checkpoint?: string;
    }
  /** `degraded` marks the stand-in plan of one step, when the Conductor wrote none. */
  | { readonly kind: 'planned'; readonly round: number; readonly plan: Plan; readonly degraded: boolean }
  /** What the plan may cost at most, known before its first step. */
  | { readonly kind: 'estimated'; readonly estimate: NonNullable<SolveTrace['estimate']> }
  /** A plan waits for a person; the wait ends with a plan, a step or the run. */
  | { readonly kind: 'approval-asked' }
  | (StepAddress &
      Readonly<Pick<StepTrace, 'worker' | 'model' | 'fallbackFor'>> & {
        readonly kind: 'step-started';
        /** The child workflow, for a step that the Conductor was given itself. */
        readonly childId?: string;
        readonly at: string;
      })
  /** The output is kept from an earlier run. */
  | (StepAddress & { readonly kind: 'step-kept'; readonly output: Text })
  | (StepAddress & WorkerResult & { readonly kind: 'step-answered' })
  /** `output` is what arrived before the failure: all there will be, unless another attempt does better. */
  | (StepAddress &
      Omit<WorkerResult, 'startedAt'> & { readonly kind: 'step-failed'; readonly problem: Problem })
  | { readonly kind: 'answered'; readonly round: number; readonly answer: Text }
  /** A child reads the round's answer, and may replace it by a round of its own. */
  | {
      readonly kind: 'review-started';
      readonly round: number;
      readonly depth: number;
      readonly childId: string;
    }
  /** `trace` is null where the child vanished without one. */
  | { readonly kind: 'child-ended'; readonly childId: string; readonly trace: SolveTrace | null }
  | {
      readonly kind: 'decided';
      readonly round: number;
      readonly decision: NonNullable<RoundTrace['decision']>;
    }
  | (Readonly<Pick<SolveTrace, 'answer' | 'error' | 'stoppedBy' | 'spentAtMost'>> & {
      readonly kind: 'ended';
      readonly status: Exclude<SolveTrace['status'], 'running'>;
    });

/** The events of this kind. */
export type EventOf<Kind extends RunEvent['kind']> = Extract<RunEvent, { kind: Kind }>;

/** The Conductor was asked, and answered or not. */
export function conductorCalled(
  request: WritePlanRequest,
  outcome: WritePlanResult | CallFailure,
): EventOf<'conductor-called'> {
  const calls =
    'plan' in outcome
      ? outcome.calls
      : (outcome.details?.calls ?? [unaccountedPlan(request, outcome.problem)]);
  const { checkpoint } = request.run.conductor;
  return { kind: 'conductor-called', calls, checkpoint: calls.length > 0 ? checkpoint : undefined };
}

export function stepStarted(request: WorkerRequest, at: string): RunEvent {
  const { round, step, worker, fallbackFor = null } = request;
  return { kind: 'step-started', round, step, worker: worker.id, model: modelOf(worker), fallbackFor, at };
}

export function stepAnswered({ round, step }: WorkerRequest, result: WorkerResult): RunEvent {
  return { kind: 'step-answered', round, step, ...result };
}

/** A worker failed; whether the step is lost depends on what is tried next. */
export function stepFailed(
  request: WorkerRequest,
  { problem, details }: CallFailure,
  at: string,
): EventOf<'step-failed'> {
  const { partial = '', dropped = [], endedAt = at } = details ?? {};
  const calls = details?.calls ?? [unaccountedCall(request, problem, null)];
  const { round, step } = request;
  return { kind: 'step-failed', round, step, problem, output: partial, calls, dropped, endedAt };
}

/**
 * A call of a step's worker that has no row in our ledger: made by the user's own activity or workflow, or by a worker
 * process that vanished. It counts, with an unknown cost, so that no sum claims more than is known.
 */
export function unaccountedCall(request: WorkerRequest, error: Problem | null, usage: Usage | null): Call {
  const { round, step, worker } = request;
  return {
    callId: `unaccounted/${round}/${step}/${worker.id}`,
    purpose: 'step',
    round,
    step,
    attempt: 1,
    worker: worker.id,
    model: modelOf(worker),
    error,
    usage,
    nanoUsd: null,
  };
}

function modelOf(worker: WorkerRequest['worker']): string {
  return worker.kind === 'model' ? worker.model : worker.type;
}

function unaccountedPlan(request: WritePlanRequest, error: Problem): Call {
  const { round, repairs, run } = request;
  return {
    callId: `unaccounted/${round}/${CONDUCTOR_ID}/${repairs.length}`,
    purpose: purposeOf(request),
    round,
    step: null,
    attempt: 1,
    worker: CONDUCTOR_ID,
    model: run.conductor.model,
    error,
    usage: null,
    nanoUsd: null,
  };
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
  { childId, model }: { childId: string; model: string },
  at: string,
): RunEvent {
  return { kind: 'step-started', ...address, worker: CONDUCTOR_ID, model, fallbackFor: null, childId, at };
}

/** Such a step has ended. Its calls are in its child's trace. */
export function ownStepEnded(
  address: StepAddress,
  { trace, problem }: ChildOutcome,
  { startedAt, endedAt }: { startedAt: string; endedAt: string },
): RunEvent {
  const how = { ...address, calls: [], dropped: [], endedAt };
  if (problem !== null) return { kind: 'step-failed', ...how, problem, output: '' };
  return { kind: 'step-answered', ...how, output: trace?.answer ?? '', startedAt };
}

export function reviewed(round: number, revision: Text | null): RunEvent {
  return { kind: 'decided', round, decision: revision === null ? 'accepted' : 'revised' };
}

/** The answer of a review's corrective plan; null where the reviewed answer stands, which an empty plan accepts. */
export function revisionIn({ trace, problem }: ChildOutcome, round: number): Text | null {
  if (trace === null || problem !== null) return null;
  const own = trace.rounds.find((each) => each.childId === null && each.round === round);
  return (own?.plan?.steps.length ?? 0) > 0 ? trace.answer : null;
}

/** What a failed activity or child says of itself. */
export interface CallFailure {
  readonly problem: Problem;
  /** null for a failure that is not ours, e.g. a time-out set by the server. */
  readonly details: CallFailureDetails | null;
}

/** @param who the worker, for messages of failures that carry none of our own */
export function readFailure(error: unknown, who: string): CallFailure {
  const wrapped = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  const cause = wrapped ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    const details = detailsWith(cause, 'calls', 'endedAt') as CallFailureDetails | null;
    return { problem: { type: cause.type ?? 'Error', message: cause.message }, details };
  }
  if (cause instanceof TimeoutFailure) {
    const message = `worker ${who} gave no result in time (${cause.timeoutType}); whether it was billed is unknown`;
    return { problem: { type: FAILURES.timeout, message }, details: null };
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return { problem: { type: 'Error', message: `worker ${who} failed: ${message}` }, details: null };
}

/** The trace that a failed solve left in its failure's details, if it left one. */
export function traceIn(error: unknown): SolveTrace | null {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure)) return null;
  return detailsWith(cause, 'rounds', 'calls') as SolveTrace | null;
}

/** A failure's first detail, if it has these fields and so is ours. */
function detailsWith(failure: ApplicationFailure, ...fields: readonly string[]): object | null {
  const details: unknown = failure.details?.[0];
  const isOurs = typeof details === 'object' && details !== null && fields.every((field) => field in details);
  return isOurs ? details : null;
}
