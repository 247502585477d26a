import type { Client } from '@temporalio/client';
import { ApplicationFailure, encodeTimeoutType } from '@temporalio/common';
import { estimatePlan } from '../budget/estimate-plan';
import type { Plan } from '../plan/plan';
import { inNormalForm } from '../plan/validate';
import type { RunTask, ConfigDigest, ResolveRunResult } from '../protocol/activity-contract';
import { isSolveInput, type SolveInput } from '../protocol/input';
import { EDIT_PLAN_UPDATE } from '../protocol/names';
import { keptOutputs, questionOf, standInPlan } from '../protocol/planning';
import type { ResolvedRun } from '../protocol/cards';
import { type SolveTrace, solveTraceSchema, type Steered } from '../protocol/solve';
import { ownRound } from '../trace/run-tree';
import type { RunEvent } from '../trace/events';
import { applyEvent, emptyTrace } from '../trace/reduce';
import {
  HistoryDecoder,
  type Payloads,
  type ProtoFailure,
  readHistory,
  type TemporalEvent,
  timeOf,
} from './history';
import { AskedTurns } from './tools/asked-turns';
import { HeardMessages } from './heard-messages';
import { type PendingCall, readPendingCall } from './pending-call';

/** A run as its own history tells it. */
interface KnownRun {
  readonly trace: SolveTrace;
  /** Empty if it is not a solve input. */
  readonly input: SolveInput;
  /** null until it is resolved. */
  readonly run: ResolvedRun | null;
  /** Digest of the configuration that it was resolved from; null if the run was given, as to a child. */
  readonly config: ConfigDigest | null;
}

export type ResolvedKnownRun = KnownRun & { readonly run: ResolvedRun };

/** Reads one run without its children, and yields what is known after each page of its history. */
export async function* readRunHistory(
  client: Client,
  id: string,
  following: AbortSignal | null,
): AsyncGenerator<KnownRun> {
  const reader = new TraceReader(id, new HistoryDecoder(client.options.loadedDataConverter));
  for await (const events of readHistory(client, { workflowId: id }, following)) {
    for (const event of events) await reader.read(event);
    const { trace, input, run, config } = reader;
    yield { trace, input, run, config };
  }
}

/** Reads one run's history as it stands, without its children. @throws Error if the run has none */
export async function readRunNow(client: Client, id: string): Promise<KnownRun> {
  let known: KnownRun | undefined;
  for await (known of readRunHistory(client, id, null));
  if (known === undefined)
    throw new Error(`run ${id} has no history: Temporal may be removing it, as its retention is over`);
  return known;
}

/** End of an activity or of a child workflow; each names the event that started it in a field of its own. */
interface EndOfCall {
  readonly scheduledEventId?: unknown;
  readonly initiatedEventId?: unknown;
  readonly result?: Payloads;
  readonly failure?: ProtoFailure;
}

type Take<Attributes> = (attributes: NonNullable<Attributes>, event: TemporalEvent) => void | Promise<void>;

/**
 * Rebuilds a run's trace from its history, without a worker and while it runs.
 * It records the events that the workflow recorded (`trace/events.ts`), in the same order, but sees only the workflow's
 * commands and their results. So the workflow must follow these rules; no other command adds an event. Each place that
 * a rule is about names it; `test/client/reader-and-run.slow.test.ts` compares both traces after every workflow task:
 * 1. The resolved run is the parent's, from the input, or the result of the one local activity that has one, before all
 *    else. A plan is in the input too (`given`), or is requested by the activity `WRITE_PLAN`, with its round in the
 *    request; the plan in its result runs unless a later result or an accepted `EDIT_PLAN_UPDATE` replaces it.
 * 2. A plan waits for a person exactly as long as its deadline runs, the only timer of a run before its first step. If
 *    the Conductor's last call brought no plan, the workflow continued without the Conductor: the stand-in plan waits.
 *    Later timers are the deadlines of turns with calls on which a person decides, in the order of these turns.
 * 3. A step is an activity or a child workflow with one `WorkerRequest` as its input, scheduled after its plan is
 *    known. A fallback is one more call for the same step, and so is `CHECK_ANSWER`, whose result replaces that of the
 *    call before. A step without a plan means that the workflow continued without the Conductor: its plan is that step.
 *    `CHECK_ARGUMENTS`, with the request of a tool's call as its input, ends that call if it finds a misfit.
 * 4. A child workflow `SOLVE_PART_WORKFLOW` has `parent` in its input: with `parent.step` it is that step of this run's
 *    plan, without it the review of this run's answer, which is in `parent.review`.
 * 5. The workflow's clock is the start time of the workflow task whose commands it writes.
 * 6. A run that ends leaves its own trace, in its result or its failure's details; it replaces all that was read.
 * 7. A run heeds each update that it accepts, and signals, once the next workflow task has heard them, as
 *    `HeardMessages` tells.
 */
export class TraceReader implements KnownRun {
  private readonly pending = new Map<string, PendingCall>();
  input: SolveInput = {};
  run: ResolvedRun | null = null;
  config: ConfigDigest | null = null;
  private asked: RunTask = { question: '' };
  private now = '';
  private messages = new HeardMessages(null);
  private readonly askedTurns = new AskedTurns();
  trace: SolveTrace;

  constructor(
    private readonly workflowId: string,
    private readonly decoder: HistoryDecoder,
  ) {
    this.trace = emptyTrace({ id: workflowId, runId: '', question: '' });
  }

  async read(event: TemporalEvent): Promise<void> {
    for (const [name, take] of Object.entries(this.handlers)) {
      const attributes = event[name as keyof typeof this.handlers];
      // The compiler does not see that the two belong together.
      if (attributes) return (take as Take<unknown>)(attributes, event);
    }
  }

  private readonly handlers = {
    workflowTaskStartedEventAttributes: (_, event) => {
      this.now = timeOf(event);
    },
    workflowExecutionStartedEventAttributes: async (
      { originalExecutionRunId: runId, input: args },
      event,
    ) => {
      const input = await this.decoder.first(args);
      const question = questionOf(input);
      const startedAt = timeOf(event);
      this.trace = emptyTrace({ id: this.workflowId, runId: runId ?? '', question, startedAt });
      // Any client may have started it with any input; a run with an unusable one fails by itself.
      this.input = isSolveInput(input) ? input : {};
      this.messages = new HeardMessages(input);
      this.run = this.input.parent?.run ?? null;
      this.asked = { ...this.input.parent, question: this.trace.question };
    },
    // The one local activity of a solve: the SDK records in a marker what it returned.
    markerRecordedEventAttributes: async ({ markerName, failure, details }) => {
      if (markerName !== 'core_local_activity' || failure) return;
      const resolved = (await this.decoder.first(details?.result)) as ResolveRunResult | undefined;
      // The check of a given run returns nothing.
      if (resolved === undefined) return;
      this.run = resolved.run;
      this.asked = resolved;
      this.config = resolved.config ?? null;
      const { given } = this.input;
      if (given === undefined) return;
      // A given plan is known from here on, and nobody is asked for it.
      this.record({ kind: 'plan-asked', round: this.round, depth: this.depth, isGiven: true });
      this.plan(given.plan);
    },
    timerStartedEventAttributes: ({ timerId }) => {
      const { run } = this;
      if (this.hasBegun) {
        this.record(...this.askedTurns.begin(timerId ?? ''));
        return;
      }
      const isWithout = ownRound(this.trace, this.round)?.error !== undefined;
      if (run !== null && isWithout) this.plan(standInPlan(run), 'stand-in');
      this.record({ kind: 'approval-asked', round: this.round, at: this.now });
    },
    timerFiredEventAttributes: ({ timerId }, event) => {
      const { approvalMs = 0 } = this.run?.limits ?? {};
      this.record(...this.askedTurns.expire(timerId ?? '', this.trace, approvalMs, timeOf(event)));
    },
    timerCanceledEventAttributes: () => {
      if (!this.hasBegun) this.record({ kind: 'approval-ended', round: this.round, at: this.now });
    },
    workflowExecutionSignaledEventAttributes: async ({ signalName, input }) => {
      this.messages.send({ name: signalName ?? '', args: await this.decoder.all(input) });
    },
    workflowTaskCompletedEventAttributes: () => {
      this.hear(...this.messages.hearAll(this.now));
    },
    workflowExecutionUpdateAcceptedEventAttributes: async ({ acceptedRequest }) => {
      const { name, args } = acceptedRequest?.input ?? {};
      const update = { name: name ?? '', args: await this.decoder.all(args) };
      this.hear(...this.messages.take(update, this.now));
      if (name === EDIT_PLAN_UPDATE) this.plan(update.args[0] as Plan);
    },
    activityTaskScheduledEventAttributes: ({ activityType, input }, event) =>
      this.start(event, activityType, null, input),
    startChildWorkflowExecutionInitiatedEventAttributes: ({ workflowType, workflowId, input }, event) =>
      this.start(event, workflowType, workflowId, input),
    activityTaskCompletedEventAttributes: (end, event) => this.succeed(end, event),
    activityTaskFailedEventAttributes: (end, event) => this.fail(end, event),
    activityTaskTimedOutEventAttributes: (end, event) => this.fail(end, event),
    activityTaskCanceledEventAttributes: ({ details, ...end }, event) =>
      this.fail({ ...end, failure: { message: 'cancelled', canceledFailureInfo: { details } } }, event),
    childWorkflowExecutionCompletedEventAttributes: (end, event) => this.succeed(end, event),
    childWorkflowExecutionFailedEventAttributes: (end, event) => this.fail(end, event),
    // The SDK makes these failures of an event that has none, and the run sees them.
    childWorkflowExecutionTerminatedEventAttributes: (end, event) =>
      this.fail({ ...end, failure: { message: 'Terminated', terminatedFailureInfo: {} } }, event),
    childWorkflowExecutionCanceledEventAttributes: (end, event) =>
      this.fail({ ...end, failure: { canceledFailureInfo: {} } }, event),
    childWorkflowExecutionTimedOutEventAttributes: (end, event) =>
      this.fail(
        { ...end, failure: { timeoutFailureInfo: { timeoutType: encodeTimeoutType('START_TO_CLOSE') } } },
        event,
      ),
    workflowExecutionCompletedEventAttributes: async ({ result }) => {
      this.adopt(await this.decoder.first(result));
    },
    workflowExecutionFailedEventAttributes: ({ failure }, event) => this.end(failure, event),
    workflowExecutionTerminatedEventAttributes: ({ reason }, event) =>
      this.end({ message: `terminated: ${reason ?? ''}` }, event),
    workflowExecutionTimedOutEventAttributes: (_, event) =>
      this.end({ message: 'the run exceeded the time-out it was started with' }, event),
    workflowExecutionCanceledEventAttributes: (_, event) => {
      const nothing = { answer: null, error: null, stoppedBy: null };
      this.record({ kind: 'ended', status: 'cancelled', ...nothing, at: timeOf(event) });
    },
  } satisfies { [Name in keyof TemporalEvent]?: Take<TemporalEvent[Name]> };

  private hear(...messages: readonly Steered[]): void {
    this.record(...messages.map((message) => ({ kind: 'steered', message }) as const));
  }

  private async start(
    event: TemporalEvent,
    type: { name?: string | null } | null | undefined,
    childId: string | null | undefined,
    args: Payloads,
  ): Promise<void> {
    const { round, depth, now } = this;
    const call = { type: type?.name, childId, input: await this.decoder.first(args) };
    const pending = readPendingCall(call, { round, depth, now });
    if (pending === null) return;
    this.pending.set(String(event.eventId), pending);
    const { standIn } = pending;
    if (standIn && ownRound(this.trace, round)?.plan === null) this.plan(standIn, 'stand-in');
    this.record(...pending.started);
  }

  private async succeed(end: EndOfCall, event: TemporalEvent): Promise<void> {
    const result = await this.decoder.first(end.result);
    for (const news of this.callOf(end)?.succeed(result, timeOf(event)) ?? []) {
      if (news.kind === 'planned') this.plan(news.plan);
      else this.record(news);
      if (news.kind === 'turn-taken') this.askedTurns.add(news);
    }
  }

  private async fail(end: EndOfCall, event: TemporalEvent): Promise<void> {
    const error = await this.decoder.failure(end.failure);
    this.record(...(this.callOf(end)?.fail(error, timeOf(event)) ?? []));
  }

  private callOf({ scheduledEventId, initiatedEventId }: EndOfCall): PendingCall | undefined {
    return this.pending.get(String(scheduledEventId ?? initiatedEventId));
  }

  private async end(failed: ProtoFailure, event: TemporalEvent): Promise<void> {
    const error = await this.decoder.failure(failed);
    const failure = error instanceof ApplicationFailure ? error : undefined;
    if (this.adopt(failure?.details?.[0])) return;
    const problem = { type: failure?.type ?? 'Error', message: error.message };
    const nothing = { answer: null, stoppedBy: null };
    this.record({ kind: 'ended', status: 'failed', ...nothing, error: problem, at: timeOf(event) });
  }

  private adopt(candidate: unknown): boolean {
    const trace = readTraceLeft(candidate);
    this.trace = trace ?? this.trace;
    return trace !== null;
  }

  private record(...events: readonly RunEvent[]): void {
    this.trace = events.reduce(applyEvent, this.trace);
  }

  /** Records a plan, its estimate, and the outputs kept of an earlier run. */
  private plan(written: Plan, source: 'written' | 'stand-in' = 'written'): void {
    const { run, round, input } = this;
    const plan = inNormalForm(written);
    this.record({ kind: 'planned', round, plan, degraded: source === 'stand-in' });
    if (plan.steps.length === 0) return;
    const kept = keptOutputs(input, plan);
    if (run !== null) {
      const { maxAnswerTokens, parent } = input;
      const { background } = parent ?? {};
      const estimate = estimatePlan(plan, run, { ...this.asked, maxAnswerTokens, background, kept });
      this.record({ kind: 'estimated', estimate });
    }
    for (const [step, output] of kept.entries()) {
      if (output !== null) this.record({ kind: 'step-kept', round, step, output });
    }
  }

  /** Whether a step of the run's own plan has started. */
  private get hasBegun(): boolean {
    const steps = ownRound(this.trace, this.round)?.steps ?? [];
    return steps.some(({ startedAt }) => startedAt !== null);
  }

  private get depth(): number {
    return this.input.parent?.depth ?? 0;
  }

  private get round(): number {
    return this.input.parent?.round ?? 0;
  }
}

/** Returns the trace that an ended run left in its result or its failure's details; null for anything else. */
export function readTraceLeft(candidate: unknown): SolveTrace | null {
  return solveTraceSchema.safeParse(candidate).data ?? null;
}
