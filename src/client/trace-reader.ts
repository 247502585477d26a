import { ApplicationFailure } from '@temporalio/common';
import { estimatePlan } from '../budget/worst-case';
import type { Plan } from '../plan/plan';
import { inNormalForm } from '../plan/validate';
import type {
  Parent,
  ResolveRunResult,
  WorkerRequest,
  WorkerResult,
  WritePlanRequest,
  WritePlanResult,
} from '../protocol/activities';
import { readExternalResult } from '../protocol/external-worker';
import { questionOf } from '../protocol/input';
import { CONDUCTOR_ID, EDIT_PLAN_UPDATE, SOLVE_WORKFLOW, WRITE_PLAN } from '../protocol/names';
import type { ResolvedRun } from '../protocol/run';
import type { SolveInput } from '../protocol/input';
import { asksApproval, type SolveTrace, solveTraceSchema } from '../protocol/solve';
import {
  type ChildOutcome,
  conductorCalled,
  ownStepEnded,
  ownStepStarted,
  readFailure,
  reviewed,
  revisionIn,
  type RunEvent,
  stepAnswered,
  stepFailed,
  stepStarted,
  traceIn,
  unaccountedCall,
} from '../trace/events';
import { applyEvent, emptyTrace } from '../trace/reduce';
import {
  type HistoryDecoder,
  type TemporalEvent,
  type HistoryEvent,
  readHistoryEvent,
  timeOf,
} from './history';

/**
 * Rebuilds a run's trace from its history, without a worker and while it runs.
 *
 * A finished run has the last word itself: its result, or the trace in its failure's details.
 */
export class TraceReader {
  private readonly begun = new Map<string, PendingCall>();
  private input: Partial<SolveInput> = {};
  /** Resolved in the first workflow task, or given by the parent. */
  private run: ResolvedRun | null = null;
  private now = '';
  /** A plan is written that is to be approved, and the run has not taken it up yet. */
  private waitsSoon = false;
  private current: SolveTrace;

  constructor(
    private readonly workflowId: string,
    private readonly decoder: HistoryDecoder,
  ) {
    this.current = emptyTrace({ id: workflowId, runId: '', question: '' });
  }

  get trace(): SolveTrace {
    return this.current;
  }

  async read(event: TemporalEvent): Promise<void> {
    if (event.workflowTaskStartedEventAttributes) this.now = timeOf(event);
    if (event.workflowTaskCompletedEventAttributes) this.askApproval();
    const milestone = await readHistoryEvent(event, this.decoder);
    if (milestone !== null) this.apply(milestone, timeOf(event));
  }

  private apply(milestone: HistoryEvent, at: string): void {
    switch (milestone.kind) {
      case 'run-started':
        this.start(milestone);
        break;
      case 'run-resolved':
        this.resolve(milestone.result);
        break;
      case 'call-begun':
        this.begin(milestone);
        break;
      case 'call-succeeded':
        this.succeed(this.begun.get(milestone.call), milestone.result, at);
        break;
      case 'call-failed':
        this.fail(this.begun.get(milestone.call), milestone.error, at);
        break;
      case 'updated':
        if (milestone.name === EDIT_PLAN_UPDATE) this.plan(inNormalForm(milestone.input as Plan), false);
        break;
      case 'run-completed':
        this.adopt(milestone.result);
        break;
      case 'run-failed':
        this.endFailed(milestone.error);
        break;
      case 'run-cancelled':
        this.record({ kind: 'ended', status: 'cancelled', answer: null, error: null, stoppedBy: null });
    }
  }

  private record(event: RunEvent): void {
    this.current = applyEvent(this.current, event);
  }

  private start({ runId, input }: Extract<HistoryEvent, { kind: 'run-started' }>): void {
    this.current = emptyTrace({ id: this.workflowId, runId, question: questionOf(input) });
    // Whoever started it may have written anything; a run that cannot be made of it fails by itself.
    this.input = typeof input === 'object' && input !== null ? input : {};
    this.run = this.input.parent?.run ?? null;
  }

  private resolve({ run }: ResolveRunResult): void {
    this.run = run;
    const { given } = this.input;
    if (given === undefined) return;
    this.record({ kind: 'plan-asked', round: this.round, depth: this.depth });
    this.plan(inNormalForm(given.plan), asksApproval(this.input, this.depth));
  }

  private begin(milestone: Extract<HistoryEvent, { kind: 'call-begun' }>): void {
    const standing = { depth: this.depth, round: this.round, now: this.now };
    const begun = readPendingCall(milestone, standing);
    if (begun === null) return;
    this.begun.set(milestone.call, begun);
    if (begun.kind === 'step') this.planStandIn(begun.request);
    this.record(eventAtBeginning(begun, standing));
  }

  /** A step of a round that has no plan: the workflow went on without the Conductor. */
  private planStandIn({ worker, subtask }: Extract<PendingCall, { kind: 'step' }>['request']): void {
    const own = this.current.rounds.find(({ childId, round }) => childId === null && round === this.round);
    if (own?.plan !== null) return;
    const plan = { steps: [{ worker: worker.id, subtask, sees: [] }] };
    this.record({ kind: 'planned', round: this.round, plan, degraded: true });
  }

  private succeed(begun: PendingCall | undefined, result: unknown, at: string): void {
    if (begun === undefined) return;
    for (const event of eventsAtSuccess(begun, result, at)) {
      if (event.kind === 'planned') this.plan(event.plan, asksApproval(this.input, this.depth));
      else this.record(event);
    }
  }

  private fail(begun: PendingCall | undefined, error: Error, at: string): void {
    if (begun === undefined) return;
    for (const event of eventsAtFailure(begun, error, at)) this.record(event);
  }

  /** A plan, what it may cost, and whatever an earlier run had of it. */
  private plan(plan: Plan, waits: boolean): void {
    const { run, round, input } = this;
    this.record({ kind: 'planned', round, plan, degraded: false });
    if (plan.steps.length === 0) return;
    if (run !== null) {
      const background = input.parent?.background ?? [];
      const estimate = estimatePlan(plan, run, this.current.question, background);
      this.record({ kind: 'estimated', estimate });
    }
    this.waitsSoon = waits;
    for (const [step, output] of (input.given?.outputs ?? []).entries()) {
      if (output !== null) this.record({ kind: 'step-kept', round, step, output });
    }
  }

  /** Only when the run has seen the plan itself can it hear a verdict: one that comes earlier is refused. */
  private askApproval(): void {
    if (this.waitsSoon) this.record({ kind: 'approval-asked' });
    this.waitsSoon = false;
  }

  private get depth(): number {
    return this.input.parent?.depth ?? 0;
  }

  private get round(): number {
    return this.input.parent?.round ?? 0;
  }

  private endFailed(error: Error): void {
    const failure = error instanceof ApplicationFailure ? error : undefined;
    if (this.adopt(failure?.details?.[0])) return;
    const problem = { type: failure?.type ?? 'Error', message: error.message };
    this.record({ kind: 'ended', status: 'failed', answer: null, error: problem, stoppedBy: null });
  }

  /** Takes the trace that the run itself left, if that is one. */
  private adopt(candidate: unknown): boolean {
    const parsed = solveTraceSchema.safeParse(candidate);
    if (parsed.success) this.current = parsed.data;
    return parsed.success;
  }
}

/** Something that a history says was begun: a call of a model, or a solve by a child. */
export type PendingCall =
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
export interface Position {
  readonly depth: number;
  /** Number of its own plan. */
  readonly round: number;
  /** ISO 8601: each task's code runs at the moment the task was started. */
  readonly now: string;
}

/** What was begun, as far as a trace is concerned; null for anything else. */
function readPendingCall(
  { type, childId, input }: Extract<HistoryEvent, { kind: 'call-begun' }>,
  { round, now }: Position,
): PendingCall | null {
  if (type === WRITE_PLAN) return { kind: 'plan', request: input as WritePlanRequest };
  const parent = type === SOLVE_WORKFLOW ? (input as SolveInput).parent : undefined;
  if (childId !== null && parent !== undefined) return { kind: 'child', childId, parent, round, at: now };
  return isWorkerRequest(input) ? { kind: 'step', request: input } : null;
}

/** What the workflow recorded as it began this. */
function eventAtBeginning(begun: PendingCall, { depth, round, now }: Position): RunEvent {
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
function eventsAtSuccess(begun: PendingCall, result: unknown, at: string): RunEvent[] {
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
function eventsAtFailure(begun: PendingCall, error: Error, at: string): RunEvent[] {
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
  { childId, parent, round, at: startedAt }: Extract<PendingCall, { kind: 'child' }>,
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
