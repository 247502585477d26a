import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TimeoutFailure,
} from '@temporalio/common';
import { CONDUCTOR_ID, type Plan } from '../plan/plan';
import { readThoughts } from '../plan/thoughts/read-thoughts';
import { isRecord } from '../plan/validate';
import type {
  WorkerRequest,
  WorkerResult,
  WritePlanRequest,
  WritePlanResult,
} from '../protocol/activity-contract';
import type { Call, Problem, RoundTrace, SolveTrace, Steered, StepTrace, Usage } from '../protocol/solve';
import { type CallFailureDetails, FAILURES } from '../protocol/failures';
import { nanoUsdOfCall, purposeOf } from '../protocol/planning';
import type { Text } from '../protocol/text';
import type { AskedCall, ToolAnswer } from '../protocol/tool-use';
import { reasonOf } from '../errors';
import { ownRound } from './run-tree';

export interface StepAddress {
  readonly round: number;
  readonly step: number;
}

/** The place of a call of a tool. */
export interface ToolAddress extends StepAddress {
  readonly worker: string;
  readonly turn: number;
  readonly ordinal: number;
}

/** Events of a run, recorded by the workflow as it goes and read back from a history. */
interface EventFields {
  /** `isGiven`: the configuration or the input has the plan; `at`: since when it is written. */
  'plan-asked': { round: number; depth: number; isGiven?: boolean; at?: string };
  /** `checkpoint`: the one that was asked, if the Conductor is one; `problem`: null if it wrote a plan. */
  'conductor-called': {
    round: number;
    problem: Problem | null;
    calls: readonly Call[];
    checkpoint?: string;
    endedAt: string;
  };
  /** `degraded` marks the stand-in plan of one step, when the Conductor wrote none. */
  planned: { round: number; plan: Plan; degraded: boolean };
  estimated: { estimate: NonNullable<SolveTrace['estimate']> };
  /** A plan waits for a person, from here to the verdict or the end of the run. */
  'approval-asked': { round: number; at: string };
  'approval-ended': { round: number; at: string };
  /** `childId`: child workflow of a step that was given to the Conductor itself. */
  'step-started': StepAddress &
    Pick<StepTrace, 'worker' | 'model' | 'fallbackFor'> & { childId?: string; at: string };
  'step-kept': StepAddress & { output: Text };
  'step-answered': StepAddress & WorkerResult;
  /** A model asks for tools: its step goes on. */
  'turn-taken': StepAddress &
    Pick<WorkerResult, 'calls' | 'dropped'> & { worker: string; turn: number; asked: readonly AskedCall[] };
  /** A person is asked about these calls of a turn. */
  'calls-asked': StepAddress & { worker: string; turn: number; ordinals: readonly number[] };
  'tool-called': ToolAddress & { input: Text; callerId?: string; name?: string; at: string };
  'tool-ended': ToolAddress & ToolAnswer & { calls?: readonly Call[]; at: string };
  /** `output` is what arrived before the failure; it stays unless another attempt does better. */
  'step-failed': StepAddress & Omit<WorkerResult, 'startedAt'> & { problem: Problem };
  answered: { round: number; answer: Text };
  /** A child reviews the round's answer, and may replace it by a round of its own. */
  'review-started': { round: number; depth: number; childId: string };
  'child-ended': ChildOutcome & { childId: string };
  /** `decision` is null if a review failed: the answer stands, and no one has accepted it. */
  decided: { round: number; decision: RoundTrace['decision'] };
  /** A person told the run something, or decided on its plan. */
  steered: { message: Steered };
  ended: Pick<SolveTrace, 'answer' | 'error' | 'stoppedBy' | 'spentAtMost'> & {
    status: Exclude<SolveTrace['status'], 'running'>;
    at: string;
  };
}

export type EventOf<Kind extends keyof EventFields> = Readonly<{ kind: Kind } & EventFields[Kind]>;
export type RunEvent = { [Kind in keyof EventFields]: EventOf<Kind> }[keyof EventFields];

/** Fields of a call that a workflow cannot see into; its cost is unknown, so that no sum claims more than is known. */
const UNACCOUNTED = { attempt: 1, usage: null, nanoUsd: null };

/** Prefix of the id of a model call that failed without reporting what was sent; only the ledger knows. */
const PRESUMED = 'presumed/';

/** A cancelled model call that reports no requests sent none. */
const sentNothing = ({ type }: Problem): boolean => type === FAILURES.cancelled;

export function isPresumed({ callId }: Call): boolean {
  return callId.startsWith(PRESUMED);
}

export function conductorCalled(
  request: WritePlanRequest,
  outcome: WritePlanResult | CallFailure,
  at: string,
): EventOf<'conductor-called'> {
  const { round, repairs, run } = request;
  const { checkpoint, model } = run.conductor;
  const callOf = (error: Problem): Call => ({
    callId: `${PRESUMED}${round}/${CONDUCTOR_ID}/${repairs.length}`,
    purpose: purposeOf(request),
    round,
    step: null,
    worker: CONDUCTOR_ID,
    model,
    error,
    ...UNACCOUNTED,
  });
  const presumed = (problem: Problem): Call[] => (sentNothing(problem) ? [] : [callOf(problem)]);
  const calls = 'plan' in outcome ? outcome.calls : (outcome.details?.calls ?? presumed(outcome.problem));
  const asked = calls.length > 0 ? checkpoint : undefined;
  const { endedAt = at } = 'plan' in outcome ? outcome : (outcome.details ?? {});
  return { kind: 'conductor-called', round, problem: outcome.problem, calls, checkpoint: asked, endedAt };
}

export function stepStarted(request: WorkerRequest, at: string): RunEvent {
  const { round, step, worker, fallbackFor = null } = request;
  return { kind: 'step-started', round, step, worker: worker.id, model: modelOf(worker), fallbackFor, at };
}

/** The end of a model call: an answer, or a turn that asks for tools. */
export function stepAnswered(
  { round, step, worker, toolTurn }: WorkerRequest,
  result: WorkerResult,
): RunEvent {
  const { turn, calls, dropped } = result;
  if (turn === undefined) return { kind: 'step-answered', round, step, ...result };
  const place = { round, step, worker: worker.id, turn: toolTurn?.index ?? 0 };
  return { kind: 'turn-taken', ...place, asked: turn.calls, calls, dropped };
}

export function stepFailed(
  request: WorkerRequest,
  { problem, details }: CallFailure,
  at: string,
): EventOf<'step-failed'> {
  const { round, step } = request;
  const { partial: output = '', thoughts, dropped = [], endedAt = at } = details ?? {};
  const isUnsent = sentNothing(problem) && request.worker.kind === 'model';
  const calls = details?.calls ?? (isUnsent ? [] : [unaccountedCall(request, problem, null)]);
  const told = { output, ...(thoughts !== undefined && { thoughts }) };
  return { kind: 'step-failed', round, step, problem, ...told, calls, dropped, endedAt };
}

export function unaccountedCall(request: WorkerRequest, error: Problem | null, usage: Usage | null): Call {
  const { round, step, worker, attempt = 1 } = request;
  // Call ids in the ledger have no slash.
  const callId =
    worker.kind === 'model'
      ? `${PRESUMED}${round}/${step}/${worker.id}`
      : `external.${round}.${step}.${worker.id}`;
  const of = { callId, round, step, worker: worker.id, model: modelOf(worker) };
  // The activity or workflow may have retried, and paid for, a call that failed.
  const nanoUsd = worker.kind === 'model' || error !== null ? null : nanoUsdOfCall(worker);
  return { ...of, purpose: 'step', error, ...UNACCOUNTED, attempt, usage, nanoUsd };
}

/**
 * Returns the answer of a user's own activity or workflow, its thoughts apart as those of a model.
 * @throws ApplicationFailure of type `Provider.BadResponse` if it returned thoughts alone
 */
export function externalAnswered(
  request: WorkerRequest,
  { text, usage }: { readonly text: string; readonly usage: Usage | null },
  span: Pick<WorkerResult, 'startedAt' | 'endedAt'>,
  takesThoughts = true,
): WorkerResult {
  const calls = [unaccountedCall(request, null, usage)];
  const { answer, thoughts } = takesThoughts ? readThoughts(text) : { answer: text, thoughts: '' };
  const told = thoughts.trim();
  if (told === '') return { output: answer, calls, dropped: [], ...span };
  if (answer.trim() !== '') return { output: answer, thoughts: told, calls, dropped: [], ...span };
  throw ApplicationFailure.create({
    type: FAILURES.badResponse,
    message: `worker ${request.worker.id} returned its thoughts, and no answer: give it more room, or let it think less`,
    nonRetryable: true,
    details: [{ calls, thoughts: told, ...span } satisfies CallFailureDetails],
  });
}

function modelOf(worker: WorkerRequest['worker']): string {
  return worker.kind === 'model' ? worker.model : worker.type;
}

export interface ChildOutcome {
  readonly trace: SolveTrace | null;
  readonly problem: Problem | null;
}

export function failedChild(error: unknown, childId: string): ChildOutcome {
  const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
  const trace = detailsWith(cause, 'rounds', 'calls') as SolveTrace | null;
  return { trace, problem: readFailure(error, childId).problem };
}

export function ownStepStarted(step: StepAddress & { childId: string; model: string; at: string }): RunEvent {
  return { kind: 'step-started', worker: CONDUCTOR_ID, fallbackFor: null, ...step };
}

/** Returns the end of a step that was given to the Conductor itself; its calls are in its child's trace. */
export function ownStepEnded(
  { startedAt, ...step }: StepAddress & { startedAt: string; endedAt: string },
  { trace, problem }: ChildOutcome,
): RunEvent {
  const ended = { ...step, calls: [], dropped: [] };
  if (problem !== null) return { kind: 'step-failed', ...ended, problem, output: '' };
  return { kind: 'step-answered', ...ended, output: trace?.answer ?? '', cut: trace?.answerCut, startedAt };
}

export function reviewed(round: number, outcome: ChildOutcome): RunEvent {
  const isAccepted = outcome.problem === null && planOfChild(outcome, round + 1)?.steps.length === 0;
  const isRevised = revisionIn(outcome, round + 1) !== null;
  return { kind: 'decided', round, decision: isRevised ? 'revised' : isAccepted ? 'accepted' : null };
}

function planOfChild({ trace }: ChildOutcome, round: number): RoundTrace['plan'] {
  return (trace && ownRound(trace, round)?.plan) ?? null;
}

/** Returns the answer of a review's corrective plan; null if the reviewed answer stands. An empty plan accepts it. */
export function revisionIn(outcome: ChildOutcome, round: number): Text | null {
  const { trace, problem } = outcome;
  if (trace === null || problem !== null) return null;
  return planOfChild(outcome, round)?.steps.length ? trace.answer : null;
}

/** Failure of an activity or child, in its own words. */
export interface CallFailure {
  readonly problem: Problem;
  /** null for a failure that is not ours, e.g. a timeout set by the server. */
  readonly details: (Pick<CallFailureDetails, 'calls'> & Partial<CallFailureDetails>) | null;
}

/** @param who the worker, for messages of failures that have none of our own */
export function readFailure(error: unknown, who: string): CallFailure {
  const wrapped = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  const cause = wrapped ? error.cause : error;
  const details = detailsWith(cause, 'calls', 'endedAt') as CallFailureDetails | null;
  if (cause instanceof ApplicationFailure) {
    return { problem: { type: cause.type ?? 'Error', message: cause.message }, details };
  }
  if (cause instanceof CancelledFailure) {
    const problem = { type: FAILURES.cancelled, message: 'the run was cancelled during the call' };
    return { problem, details };
  }
  if (cause instanceof TimeoutFailure) return timedOutCall(cause, who);
  return { problem: { type: 'Error', message: `worker ${who} failed: ${reasonOf(cause)}` }, details: null };
}

/**
 * If no worker took a call in time, only earlier attempts can have sent anything; the server keeps the last error.
 */
function timedOutCall({ cause, timeoutType }: TimeoutFailure, who: string): CallFailure {
  const fail = (message: string, details: CallFailure['details']): CallFailure => ({
    problem: { type: FAILURES.timeout, message },
    details,
  });
  if (timeoutType !== 'SCHEDULE_TO_START') {
    const what = `worker ${who} gave no result in time (${timeoutType})`;
    return fail(`${what}; whether it was billed is unknown`, null);
  }
  const message = `no worker process took the call of ${who} in time: start one that polls its task queue`;
  const last = detailsWith(cause, 'calls') as CallFailureDetails | null;
  return fail(message, last ?? { calls: [] });
}

/** A failure's first detail, if it has these fields and so is ours. */
function detailsWith(failure: unknown, ...fields: readonly string[]): object | null {
  if (!(failure instanceof ApplicationFailure || failure instanceof CancelledFailure)) return null;
  const details: unknown = failure.details?.[0];
  return isRecord(details) && fields.every((field) => field in details) ? details : null;
}
