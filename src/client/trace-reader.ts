import { ApplicationFailure } from '@temporalio/common';
import { estimatePlan } from '../budget/worst-case';
import { CONDUCTOR_ID, type Plan } from '../plan/plan';
import { inNormalForm } from '../plan/validate';
import type {
  Parent,
  WorkerRequest,
  WorkerResult,
  WritePlanRequest,
  WritePlanResult,
} from '../protocol/activities';
import { readExternalResult } from '../protocol/external-worker';
import { questionOf, type SolveInput, asksApproval } from '../protocol/input';
import { EDIT_PLAN_UPDATE, SOLVE_WORKFLOW, WRITE_PLAN } from '../protocol/names';
import type { ResolvedRun } from '../protocol/run';
import { type SolveTrace, solveTraceSchema } from '../protocol/solve';
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
  type HistoryEvent,
  readHistoryEvent,
  type TemporalEvent,
  timeOf,
} from './history';

/**
 * Rebuilds a run's trace from its history, without a worker and while it runs.
 *
 * Law: the reader records the events that the workflow recorded (`trace/events.ts`), in the same order. It sees nothing
 * but the workflow's commands and what came of them, so the workflow must keep to this:
 *
 * 1. The resolved run is the parent's in the input, or what the one local activity returned, which comes before all else.
 *    A plan is in the input too (`given`), or is asked for by the activity `WRITE_PLAN`, its round in the request; the
 *    plan in its result is the one that runs, unless a later result or an accepted `EDIT_PLAN_UPDATE` replaces it.
 * 2. A plan that asks for approval waits from the next workflow task on, until a step of it is scheduled.
 * 3. A step is an activity or a child workflow with one `WorkerRequest` as its input, scheduled after its plan is known.
 *    A fallback is one more call for the same step. A step without a plan means that the workflow went on without the
 *    Conductor: its plan is that step.
 * 4. A solve below this one is a child workflow `SOLVE_WORKFLOW` with `parent` in its input: with `parent.step` it is
 *    that step of this run's plan, without it the review of this run's answer.
 * 5. The workflow's clock stands at the start of the workflow task whose commands it writes.
 * 6. A run that ends puts its own trace into its result, or into the details of its failure. That replaces all that was
 *    read before.
 *
 * Every other command (timers, other activities, signals) leaves no event in a trace.
 */
export class TraceReader {
  private readonly pending = new Map<string, PendingCall>();
  private input: Partial<SolveInput> = {};
  private run: ResolvedRun | null = null;
  private now = '';
  /** A plan is written that needs approval, and the run has not seen it yet. */
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
    const read = await readHistoryEvent(event, this.decoder);
    if (read !== null) this.apply(read, timeOf(event));
  }

  private apply(event: HistoryEvent, at: string): void {
    switch (event.kind) {
      case 'run-started':
        this.start(event);
        break;
      case 'run-resolved':
        this.resolve(event.run);
        break;
      case 'call-started':
        this.startCall(event);
        break;
      case 'call-succeeded':
        this.succeed(this.pending.get(event.call), event.result, at);
        break;
      case 'call-failed':
        this.fail(this.pending.get(event.call), event.error, at);
        break;
      case 'updated':
        this.takeUpdate(event);
        break;
      case 'run-completed':
        this.adopt(event.result);
        break;
      case 'run-failed':
        this.endFailed(event.error);
        break;
      case 'run-cancelled':
        this.record({ kind: 'ended', status: 'cancelled', answer: null, error: null, stoppedBy: null });
    }
  }

  private takeUpdate({ name, input }: Extract<HistoryEvent, { kind: 'updated' }>): void {
    if (name === EDIT_PLAN_UPDATE) this.plan(inNormalForm(input as Plan), false);
  }

  private record(event: RunEvent): void {
    this.current = applyEvent(this.current, event);
  }

  private start({ runId, input }: Extract<HistoryEvent, { kind: 'run-started' }>): void {
    this.current = emptyTrace({ id: this.workflowId, runId, question: questionOf(input) });
    // Any client may have started it with anything; a run that cannot be made of it fails by itself.
    this.input = typeof input === 'object' && input !== null ? input : {};
    this.run = this.input.parent?.run ?? null;
  }

  /** A plan that was given is known from here on, and asked of no one. */
  private resolve(run: ResolvedRun): void {
    this.run = run;
    const { given } = this.input;
    if (given === undefined) return;
    this.record({ kind: 'plan-asked', round: this.round, depth: this.depth });
    this.plan(inNormalForm(given.plan), asksApproval(this.input, this.depth));
  }

  private startCall(event: Extract<HistoryEvent, { kind: 'call-started' }>): void {
    const pending = readPendingCall(event, { depth: this.depth, round: this.round, now: this.now });
    if (pending === null) return;
    this.pending.set(event.call, pending);
    const own = this.current.rounds.find(({ childId, round }) => childId === null && round === this.round);
    if (pending.standIn !== undefined && own?.plan === null) {
      this.plan(pending.standIn, false, true);
    }
    this.record(pending.started);
  }

  private succeed(pending: PendingCall | undefined, result: unknown, at: string): void {
    for (const event of pending?.succeed(result, at) ?? []) {
      if (event.kind === 'planned') this.plan(event.plan, asksApproval(this.input, this.depth));
      else this.record(event);
    }
  }

  private fail(pending: PendingCall | undefined, error: Error, at: string): void {
    for (const event of pending?.fail(error, at) ?? []) this.record(event);
  }

  /** A plan, what it may cost, and what is kept of an earlier run. */
  private plan(plan: Plan, waits: boolean, degraded = false): void {
    const { run, round, input } = this;
    this.record({ kind: 'planned', round, plan, degraded });
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
    const trace = readTraceLeft(candidate);
    if (trace !== null) this.current = trace;
    return trace !== null;
  }
}

/** The trace that an ended run left in its result or in the details of its failure; null for anything else. */
export function readTraceLeft(candidate: unknown): SolveTrace | null {
  return solveTraceSchema.safeParse(candidate).data ?? null;
}

/** A call of a model, or a solve by a child, and what the workflow records of it. */
export interface PendingCall {
  readonly started: RunEvent;
  /** The plan of a run that has none when this call starts. */
  readonly standIn?: Plan;
  readonly succeed: (result: unknown, at: string) => RunEvent[];
  readonly fail: (error: Error, at: string) => RunEvent[];
}

/** Where a run stands in its tree, and when its own code ran last. */
export interface Position {
  readonly depth: number;
  /** Number of its own plan. */
  readonly round: number;
  /** ISO 8601. */
  readonly now: string;
}

/** What was started, as far as a trace is concerned; null for anything else. */
function readPendingCall(
  { type, childId, input }: Extract<HistoryEvent, { kind: 'call-started' }>,
  position: Position,
): PendingCall | null {
  if (type === WRITE_PLAN) return planCall(input as WritePlanRequest, position);
  const parent = type === SOLVE_WORKFLOW ? (input as SolveInput).parent : undefined;
  if (childId !== null && parent !== undefined) return childCall(childId, parent, position);
  return isWorkerRequest(input) ? stepCall(input, position) : null;
}

function planCall(request: WritePlanRequest, { depth }: Position): PendingCall {
  const { round } = request;
  return {
    started: { kind: 'plan-asked', round, depth },
    succeed: (result) => {
      const written = result as WritePlanResult;
      const called = conductorCalled(request, written);
      const { plan } = written;
      return plan === null ? [called] : [called, { kind: 'planned', round, plan, degraded: false }];
    },
    fail: (error) => [conductorCalled(request, readFailure(error, CONDUCTOR_ID))],
  };
}

function stepCall(request: WorkerRequest, { now }: Position): PendingCall {
  const { worker, subtask } = request;
  const fail = (error: unknown, at: string): RunEvent[] => [
    stepFailed(request, readFailure(error, worker.id), at),
  ];
  return {
    started: stepStarted(request, now),
    standIn: { steps: [{ worker: worker.id, subtask, sees: [] }] },
    succeed: (result, at) => {
      try {
        return [stepAnswered(request, workerResultOf(request, result, at))];
      } catch (error) {
        // Not what an external worker has to return: the workflow counted it as failed, and so does its trace.
        return fail(error, at);
      }
    },
    fail,
  };
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

function childCall(childId: string, parent: Parent, { round, now }: Position): PendingCall {
  const { step, run } = parent;
  const end = (outcome: ChildOutcome, endedAt: string): RunEvent[] => [
    { kind: 'child-ended', childId, trace: outcome.trace },
    step === undefined
      ? reviewed(round, revisionIn(outcome, parent.round))
      : ownStepEnded({ round, step }, outcome, { startedAt: now, endedAt }),
  ];
  return {
    started:
      step === undefined
        ? { kind: 'review-started', round: parent.round, depth: parent.depth, childId }
        : ownStepStarted({ round, step }, { childId, model: run.conductor.model }, now),
    succeed: (result, at) => end({ trace: result as SolveTrace, problem: null }, at),
    fail: (error, at) => end({ trace: traceIn(error), problem: readFailure(error, childId).problem }, at),
  };
}
