import { ApplicationFailure } from '@temporalio/common';
import type { WorkerRequest, WorkerResult, WritePlanRequest, WritePlanResult } from '../protocol/activities';
import { readExternalResult } from '../protocol/external-worker';
import { WRITE_PLAN } from '../protocol/names';
import { solveTraceSchema, type SolveTrace } from '../protocol/solve';
import { questionOf } from '../protocol/solve-input';
import { applyEvent, emptyTrace } from '../trace/apply-event';
import { readFailure } from '../trace/read-failure';
import type { RunEvent } from '../trace/run-event';
import { stepAnswered, stepFailed, stepStarted } from '../trace/call-events';
import { unaccountedCall } from '../trace/unaccounted-call';
import type { HistoryDecoder, HistoryEvent } from './history';
import { readMilestone, timeOf, type Milestone } from './milestone';

/** A model call that the history says was begun. */
type Begun =
  | { readonly kind: 'plan'; readonly request: WritePlanRequest }
  | { readonly kind: 'step'; readonly request: WorkerRequest };

/**
 * Rebuilds a run's trace from its history, without a worker and while it runs.
 *
 * A finished run has the last word itself: its result, or the trace in its failure's details.
 */
export class TraceReader {
  private readonly begun = new Map<string, Begun>();
  /** The time as the workflow's own code saw it last: each task's code runs at the moment the task was started. */
  private now = '';
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

  async read(event: HistoryEvent): Promise<void> {
    if (event.workflowTaskStartedEventAttributes) this.now = timeOf(event);
    const milestone = await readMilestone(event, this.decoder);
    if (milestone !== null) this.apply(milestone, timeOf(event));
  }

  private apply(milestone: Milestone, at: string): void {
    switch (milestone.kind) {
      case 'run-started': {
        const { runId, input } = milestone;
        this.current = emptyTrace({ id: this.workflowId, runId, question: questionOf(input) });
        break;
      }
      case 'call-begun':
        this.begin(milestone);
        break;
      case 'call-succeeded':
        this.succeed(this.begun.get(milestone.call), milestone.result, at);
        break;
      case 'call-failed':
        this.fail(this.begun.get(milestone.call), milestone.error, at);
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

  private begin({ call, type, input }: Extract<Milestone, { kind: 'call-begun' }>): void {
    if (type === WRITE_PLAN) {
      const request = input as WritePlanRequest;
      this.begun.set(call, { kind: 'plan', request });
      this.record({ kind: 'plan-asked', round: request.round });
    } else if (isWorkerRequest(input)) {
      this.begun.set(call, { kind: 'step', request: input });
      this.planStandIn(input);
      this.record(stepStarted(input, this.now));
    }
  }

  /** A step of a round that has no plan: the workflow went on without the Conductor. */
  private planStandIn({ round, worker, subtask }: WorkerRequest): void {
    if (this.current.rounds.some((each) => each.round === round && each.plan !== null)) return;
    const plan = { steps: [{ worker: worker.id, subtask, sees: [] }] };
    this.record({ kind: 'planned', round, plan, degraded: true });
  }

  private succeed(begun: Begun | undefined, result: unknown, at: string): void {
    if (begun?.kind === 'plan') {
      const { calls, plan } = result as WritePlanResult;
      this.record({ kind: 'conductor-called', calls });
      if (plan !== null) this.record({ kind: 'planned', round: begun.request.round, plan, degraded: false });
    } else if (begun?.kind === 'step') {
      this.finish(begun.request, result, at);
    }
  }

  private finish(request: WorkerRequest, result: unknown, at: string): void {
    try {
      this.record(stepAnswered(request, workerResultOf(request, result, at)));
    } catch (error) {
      // Not what an external worker has to return: the workflow counted it as failed, and so does its trace.
      this.record(stepFailed(request, readFailure(error, request.worker.id), at));
    }
  }

  private fail(begun: Begun | undefined, error: Error, at: string): void {
    if (begun?.kind === 'plan') {
      this.record({ kind: 'conductor-called', calls: readFailure(error, 'conductor').details?.calls ?? [] });
    } else if (begun?.kind === 'step') {
      this.record(stepFailed(begun.request, readFailure(error, begun.request.worker.id), at));
    }
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

function isWorkerRequest(input: unknown): input is WorkerRequest {
  const isObject = typeof input === 'object' && input !== null;
  return isObject && 'worker' in input && 'subtask' in input && 'step' in input;
}

function workerResultOf(request: WorkerRequest, result: unknown, at: string): WorkerResult {
  const { worker } = request;
  if (worker.kind === 'model') return result as WorkerResult;
  const { text, usage } = readExternalResult(result, worker);
  const calls = [unaccountedCall(request, null, usage)];
  return { output: text, calls, dropped: [], startedAt: at, endedAt: at };
}
