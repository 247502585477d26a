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
import { asksApproval, questionOf, type SolveInput } from '../protocol/input';
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

type EventOf<Kind extends HistoryEvent['kind']> = Extract<HistoryEvent, { kind: Kind }>;

/**
 * Rebuilds a run's trace from its history, without a worker and while it runs.
 *
 * Law: the reader records the events that the workflow recorded (`trace/events.ts`), in the same order. It sees only the
 * workflow's commands and their results, so the workflow must keep to this:
 *
 * 1. The resolved run is the parent's in the input, or what the one local activity with a result returned, which comes
 *    before all else.
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
  /** A plan that needs approval is written, and the run has not seen it yet. */
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
    if (read === null) return;
    // The compiler does not see that the two have one kind.
    const take = this.handlers[read.kind] as (read: HistoryEvent, at: string) => void;
    take(read, timeOf(event));
  }

  private readonly handlers: {
    readonly [Kind in HistoryEvent['kind']]: (event: EventOf<Kind>, at: string) => void;
  } = {
    'run-started': ({ runId, input }) => {
      this.current = emptyTrace({ id: this.workflowId, runId, question: questionOf(input) });
      // Any client may have started it with anything; a run that cannot be made of it fails by itself.
      this.input = typeof input === 'object' && input !== null ? input : {};
      this.run = this.input.parent?.run ?? null;
    },
    'run-resolved': ({ run }) => {
      this.run = run;
      const { given } = this.input;
      if (given === undefined) return;
      // A plan that was given is known from here on, and asked of no one.
      this.record({ kind: 'plan-asked', round: this.round, depth: this.depth });
      this.plan(inNormalForm(given.plan), { waits: asksApproval(this.input, this.depth) });
    },
    'call-started': (event) => {
      const pending = readPendingCall(event, this.round, this.depth, this.now);
      if (pending === null) return;
      this.pending.set(event.call, pending);
      const own = this.current.rounds.find((each) => each.childId === null && each.round === this.round);
      if (pending.standIn !== undefined && own?.plan === null) this.plan(pending.standIn, { degraded: true });
      this.record(pending.started);
    },
    'call-succeeded': ({ call, result }, at) => {
      for (const event of this.pending.get(call)?.succeed(result, at) ?? []) {
        if (event.kind === 'planned') this.plan(event.plan, { waits: asksApproval(this.input, this.depth) });
        else this.record(event);
      }
    },
    'call-failed': ({ call, error }, at) => {
      this.record(...(this.pending.get(call)?.fail(error, at) ?? []));
    },
    updated: ({ name, input }) => {
      if (name === EDIT_PLAN_UPDATE) this.plan(inNormalForm(input as Plan), {});
    },
    'run-completed': ({ result }) => {
      this.adopt(result);
    },
    'run-failed': ({ error }) => {
      const failure = error instanceof ApplicationFailure ? error : undefined;
      if (this.adopt(failure?.details?.[0])) return;
      const problem = { type: failure?.type ?? 'Error', message: error.message };
      this.record({ kind: 'ended', status: 'failed', answer: null, error: problem, stoppedBy: null });
    },
    'run-cancelled': () => {
      this.record({ kind: 'ended', status: 'cancelled', answer: null, error: null, stoppedBy: null });
    },
  };

  private record(...events: readonly RunEvent[]): void {
    this.current = events.reduce(applyEvent, this.current);
  }

  /** A plan, what it may cost, and what is kept of an earlier run. */
  private plan(plan: Plan, how: { waits?: boolean; degraded?: boolean }): void {
    const { run, round, input } = this;
    this.record({ kind: 'planned', round, plan, degraded: how.degraded === true });
    if (plan.steps.length === 0) return;
    if (run !== null) {
      const background = input.parent?.background ?? [];
      const estimate = estimatePlan(plan, run, this.current.question, background);
      this.record({ kind: 'estimated', estimate });
    }
    this.waitsSoon = how.waits === true;
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
interface PendingCall {
  readonly started: RunEvent;
  /** The plan of a run that has none when this call starts. */
  readonly standIn?: Plan;
  readonly succeed: (result: unknown, at: string) => RunEvent[];
  readonly fail: (error: Error, at: string) => RunEvent[];
}

/** What was started, as far as a trace is concerned; null for anything else. `now` is the workflow's clock. */
function readPendingCall(
  { type, childId, input }: EventOf<'call-started'>,
  round: number,
  depth: number,
  now: string,
): PendingCall | null {
  if (type === WRITE_PLAN) return planCall(input as WritePlanRequest, depth);
  const parent = type === SOLVE_WORKFLOW ? (input as SolveInput).parent : undefined;
  if (childId !== null && parent !== undefined) return childCall(childId, parent, round, now);
  return isWorkerRequest(input) ? stepCall(input, now) : null;
}

function planCall(request: WritePlanRequest, depth: number): PendingCall {
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

function stepCall(request: WorkerRequest, now: string): PendingCall {
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

function childCall(childId: string, parent: Parent, round: number, now: string): PendingCall {
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
