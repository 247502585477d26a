import type { WorkerRequest, WorkerResult, WritePlanRequest, WritePlanResult } from '../protocol/activities';
import { readExternalResult } from '../protocol/external-worker';
import { CONDUCTOR_ID, SOLVE_WORKFLOW, WRITE_PLAN } from '../protocol/names';
import type { Parent } from '../protocol/parent';
import type { SolveInput, SolveTrace } from '../protocol/solve';
import { conductorCalled, stepAnswered, stepFailed, stepStarted } from '../trace/call-events';
import { ownStepEnded, ownStepStarted, reviewed, revisionIn, type ChildOutcome } from '../trace/child-events';
import { readFailure } from '../trace/read-failure';
import type { RunEvent } from '../trace/run-event';
import { traceIn } from '../trace/trace-in';
import { unaccountedCall } from '../trace/unaccounted-call';
import type { Milestone } from './milestone';

/** Something that a history says was begun: a call of a model, or a solve by a child. */
export type Begun =
  | { readonly kind: 'plan'; readonly request: WritePlanRequest }
  | { readonly kind: 'step'; readonly request: WorkerRequest }
  | {
      readonly kind: 'child';
      readonly childId: string;
      readonly parent: Parent;
      readonly round: number;
      readonly at: string;
    };

/** Where a run stands in its tree, and when its own code ran last. */
export interface Standing {
  readonly depth: number;
  /** Number of its own plan. */
  readonly round: number;
  /** ISO 8601: each task's code runs at the moment the task was started. */
  readonly now: string;
}

/** What was begun, as far as a trace is concerned; null for anything else. */
export function readBegun(
  { type, childId, input }: Extract<Milestone, { kind: 'call-begun' }>,
  { round, now }: Standing,
): Begun | null {
  if (type === WRITE_PLAN) return { kind: 'plan', request: input as WritePlanRequest };
  const parent = type === SOLVE_WORKFLOW ? (input as SolveInput).parent : undefined;
  if (childId !== null && parent !== undefined) return { kind: 'child', childId, parent, round, at: now };
  return isWorkerRequest(input) ? { kind: 'step', request: input } : null;
}

/** What the workflow recorded as it began this. */
export function eventAtBeginning(begun: Begun, { depth, round, now }: Standing): RunEvent {
  switch (begun.kind) {
    case 'plan':
      return { kind: 'plan-asked', round: begun.request.round, depth };
    case 'step':
      return stepStarted(begun.request, now);
    case 'child': {
      const { childId, parent } = begun;
      const { step, run } = parent;
      if (step === undefined)
        return { kind: 'review-started', round: parent.round, depth: parent.depth, childId };
      return ownStepStarted({ round, step }, { childId, model: run.conductor.model }, now);
    }
  }
}

/** What the workflow recorded when it was given this result. */
export function eventsAtSuccess(begun: Begun, result: unknown, at: string): RunEvent[] {
  switch (begun.kind) {
    case 'plan': {
      const written = result as WritePlanResult;
      const called = conductorCalled(begun.request, written);
      const { plan } = written;
      if (plan === null) return [called];
      return [called, { kind: 'planned', round: begun.request.round, plan, degraded: false }];
    }
    case 'step':
      return [finished(begun.request, result, at)];
    case 'child':
      return childEnded(begun, { trace: result as SolveTrace, problem: null }, at);
  }
}

/** What the workflow recorded when this failed. */
export function eventsAtFailure(begun: Begun, error: Error, at: string): RunEvent[] {
  switch (begun.kind) {
    case 'plan': {
      const failure = readFailure(error, CONDUCTOR_ID);
      return [conductorCalled(begun.request, failure)];
    }
    case 'step':
      return [stepFailed(begun.request, readFailure(error, begun.request.worker.id), at)];
    case 'child': {
      const { problem } = readFailure(error, begun.childId);
      return childEnded(begun, { trace: traceIn(error), problem }, at);
    }
  }
}

function childEnded(
  { childId, parent, round, at: startedAt }: Extract<Begun, { kind: 'child' }>,
  outcome: ChildOutcome,
  endedAt: string,
): RunEvent[] {
  const ended: RunEvent = { kind: 'child-ended', childId, trace: outcome.trace };
  const { step } = parent;
  return step === undefined
    ? [ended, reviewed(round, revisionIn(outcome, parent.round))]
    : [ended, ownStepEnded({ round, step }, outcome, { startedAt, endedAt })];
}

function finished(request: WorkerRequest, result: unknown, at: string): RunEvent {
  try {
    return stepAnswered(request, workerResultOf(request, result, at));
  } catch (error) {
    // Not what an external worker has to return: the workflow counted it as failed, and so does its trace.
    return stepFailed(request, readFailure(error, request.worker.id), at);
  }
}

function workerResultOf(request: WorkerRequest, result: unknown, at: string): WorkerResult {
  const { worker } = request;
  if (worker.kind === 'model') return result as WorkerResult;
  const { text, usage } = readExternalResult(result, worker);
  const calls = [unaccountedCall(request, null, usage)];
  return { output: text, calls, dropped: [], startedAt: at, endedAt: at };
}

function isWorkerRequest(input: unknown): input is WorkerRequest {
  const isObject = typeof input === 'object' && input !== null;
  return isObject && 'worker' in input && 'subtask' in input && 'step' in input;
}
