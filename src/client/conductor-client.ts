import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { readGivenConfig } from '../config/load';
import type { ConfigInput } from '../config/schema';
import { checkEncrypted } from '../encryption/codec';
import type { Plan, PlanContext } from '../plan/plan';
import type { CallDecision } from '../protocol/call-decision';
import {
  type HeldLimits,
  findHintProblem,
  isDepth,
  type LimitsChange,
  MAX_HINTS,
  MAX_MESSAGES,
  type Sender,
} from '../protocol/messages';
import {
  ADD_HINT_SIGNAL,
  APPROVE_PLAN_UPDATE,
  DECIDE_CALL_UPDATE,
  DEFAULT_TASK_QUEUE,
  EDIT_PLAN_UPDATE,
  REJECT_PLAN_UPDATE,
  LIMITS_QUERY,
  SET_LIMITS_UPDATE,
  SET_MAX_DEPTH_SIGNAL,
  SOLVE_WORKFLOWS,
} from '../protocol/names';
import type { SolveInput } from '../protocol/input';
import { type AttributesSetting, criteriaIn, type Criterion } from '../protocol/search-attributes';
import type { SolveResult, SolveTrace } from '../protocol/solve';
import { configuredStore, openStore } from '../store/open-store';
import type { Store } from '../store/store';
import { checkStoreId } from '../store/store-id';
import { type AskedRequest, checkAsked, keepAsked } from './check-question';
import { addChildren, addLedger, followTree, type ReadRun, readTree } from './run-tree';
import { launchSolve, type StartOptions } from './launch-solve';
import { listRuns, type ListOptions, type RunList } from './list-runs';
import { checkWorker, contextOf, retryInput, type RetryRequest } from './retry';
import { readRetries, type Retry, withWait } from './pending-call';
import { newRetryId, newRunId } from './run-id';
import type { LiveEvent } from './live/live-events';
import { type StreamOptions, Streams } from './live/stream';
import { requireCriteria } from './search-attributes';
import { carrying, whileSolving, whileTelling } from './solve-span';
import { RefusedError, signalRun, updateRun } from './steer';
import { type Beside, type CallerResult, findCall, giveResults, type ToldCall } from './tools/caller-calls';
import { reading, resolveTrace } from './whole-trace';
import { readRunHistory, readRunNow, readTraceLeft, type ResolvedKnownRun } from './trace-reader';

export interface ConductorClientOptions {
  /** Any Temporal client; its namespace and data converter apply. */
  readonly client: Client;
  /**
   * The workers' `conductor.yaml`, or its content; model keys are not needed.
   * @default the file that `CONDUCTOR_CONFIG` names, else `conductor.yaml`; not read if `store` is given
   */
  readonly config?: string | ConfigInput;
  /**
   * The workers' store: an open one, or its URL, e.g. `sqlite:.conductor/store.db`.
   * @default the store that the configuration names, encrypted if it sets `encryption`
   */
  readonly store?: Store | string;
  /** @default the configuration's `temporal.taskQueue`, else `conductor` */
  readonly taskQueue?: string;
  /** @default the configuration's `temporal.searchAttributes`; none if `store` is given */
  readonly searchAttributes?: AttributesSetting | undefined;
}

export type SolveRequest = Omit<SolveInput, 'question' | 'messages' | 'callerTools'> & AskedRequest;

export interface SolveHandle {
  readonly id: string;
  readonly runId: string;
  /** Waits for the end; failed and cancelled runs give a result too. */
  readonly result: () => Promise<SolveResult>;
}

export interface AttachedSolve extends SolveHandle {
  readonly memo: Readonly<Record<string, unknown>>;
}

/**
 * Starts, follows, steers and stops solves.
 * Methods that change a run throw a RefusedError with the reason if the run refuses. Signals (`setMaxDepth`, `addHint`)
 * return at once; the other changes wait for a worker's answer. A child is steered by its id in the trace.
 * A run that a gateway's key started refuses what that key may not use, unless the sender is an operator.
 */
export class ConductorClient {
  private readonly client: Client;
  private readonly store: Store;
  private readonly taskQueue: string;
  private readonly criteria: readonly Criterion[];
  private readonly streams = new Streams();

  /** @throws ConfigError if the configuration sets `encryption`, and the client's data converter does not encrypt */
  constructor({ client, config, store, taskQueue, searchAttributes }: ConductorClientOptions) {
    this.client = client;
    if (store === undefined) {
      const settings = readGivenConfig(config);
      if (settings.encryption) checkEncrypted(client.options.dataConverter, settings.encryption);
      this.store = configuredStore(settings);
      this.taskQueue = taskQueue ?? settings.temporal.taskQueue;
      this.criteria = criteriaIn(searchAttributes ?? settings.temporal.searchAttributes);
    } else {
      this.store = typeof store === 'string' ? openStore(store, process.cwd()) : store;
      this.taskQueue = taskQueue ?? DEFAULT_TASK_QUEUE;
      this.criteria = criteriaIn(searchAttributes);
    }
  }

  /**
   * Starts a solve and returns at once. An id names at most one run for as long as Temporal keeps it: see `attach`.
   * @throws BadQuestionError for a question that is empty or over 1 MiB
   * @throws WorkflowExecutionAlreadyStartedError of Temporal if a run with this id is running or has ended
   */
  async start(request: SolveRequest, id?: string, options: StartOptions = {}): Promise<SolveHandle> {
    const question = checkAsked(request);
    const asked = await keepAsked(this.store, request);
    const blank = { question: undefined, messages: undefined };
    const ofTools = { tools: undefined, toolSteps: undefined, toolChoice: undefined };
    const input = { ...request, ...blank, ...ofTools, ...asked };
    return this.launch(input, id ?? newRunId(question, this.client), options);
  }

  /** Attaches to a run, running or ended, whoever started it. @throws Temporal's WorkflowNotFoundError if there is none */
  async attach(id: string): Promise<AttachedSolve> {
    const { runId, memo = {}, type } = await this.client.workflow.getHandle(id).describe();
    if (!SOLVE_WORKFLOWS.includes(type)) {
      throw new WorkflowNotFoundError(
        `workflow ${id} is a ${type}, not a solve: name one that was started as a solve`,
        id,
        runId,
      );
    }
    return { ...this.handleOf(id, runId), memo };
  }

  async solve(request: SolveRequest, id?: string): Promise<SolveResult> {
    return whileSolving(request, (traced) => this.start(traced, id));
  }

  /**
   * Yields the trace of a run and all its children as it grows, from what has happened so far to its end.
   * @param signal ends a wait for news at once, with an error
   */
  async *watch(id: string, signal?: AbortSignal): AsyncGenerator<SolveResult> {
    const whole = reading(this.store);
    for await (const trace of followTree(this.read, id, signal)) yield await resolveTrace(trace, whole);
  }

  /**
   * Streams the events of a run: plans, steps, their texts, reviews, its end. A request is started first.
   * Texts arrive as they are written if the run has `live: true` and a database as its store, else when a step ends.
   * A caller that resumes `after` a cursor, in any process, gets no event twice, and misses none.
   */
  async *stream(run: SolveRequest | string, options: StreamOptions = {}): AsyncGenerator<LiveEvent> {
    const { client, store } = this;
    const tell = (id: string): AsyncGenerator<LiveEvent> => {
      const retries = (): Promise<Retry[]> => this.retries(id);
      return this.streams.tell(
        { id, client, store, retries, watch: (signal) => this.watch(id, signal) },
        options,
      );
    };
    const start = (traced: SolveRequest) => this.start({ live: true, ...traced });
    yield* typeof run === 'string' ? tell(run) : whileTelling(run, start, tell);
  }

  /** Returns the length, in characters, of all that is kept in memory for the open streams of a run. */
  streamedLength(id: string): number {
    return this.streams.lengthOf(id);
  }

  /** Returns the current trace of a run and all its children, running or ended. Needs no worker. */
  async trace(id: string): Promise<SolveResult> {
    return resolveTrace(await this.readNow(id), reading(this.store));
  }

  /** Lists the unfinished runs, and the last ended ones. Needs no worker. */
  async list(options: ListOptions = {}): Promise<RunList> {
    requireCriteria(options.where ?? {}, this.criteria);
    return listRuns(this.client, (id) => this.readNow(id), options);
  }

  /** Returns the calls of a run, and of the runs below it, that wait for a retry. */
  async retries(id: string): Promise<Retry[]> {
    return readRetries(this.client, id);
  }

  /**
   * Sets how deep the Conductor may call itself from now on, in running children too; null: no depth limit. A run
   * ignores what the sender may not set: `setLimits` tells.
   */
  async setMaxDepth(id: string, depth: number | null, sender?: Sender): Promise<void> {
    // A signal has no answer, so a value that a run would ignore is refused before it is sent.
    if (!isDepth(depth)) {
      throw new RefusedError(
        `the depth is ${String(depth)}: it must be a whole number from 0, or null for no limit`,
      );
    }
    const signal = { name: SET_MAX_DEPTH_SIGNAL, most: MAX_MESSAGES };
    await signalRun(this.client, id, signal, depth, ...argsOf(sender));
  }

  /** Gives the Conductor something to consider, from its next call on. */
  async addHint(id: string, hint: string, sender?: Sender): Promise<void> {
    const problem = findHintProblem(hint);
    if (problem !== null) throw new RefusedError(problem);
    const signal = { name: ADD_HINT_SIGNAL, most: MAX_HINTS };
    await signalRun(this.client, id, signal, hint, ...argsOf(sender));
  }

  /** Returns the current limits; asks a worker, and writes nothing. */
  async limits(id: string): Promise<HeldLimits> {
    const held = await this.client.workflow.getHandle(id).query<HeldLimits | null>(LIMITS_QUERY);
    if (held === null) throw new RefusedError(`run ${id} has no limits yet: try again when it has begun`);
    return held;
  }

  /** Changes the given limits, and returns all current ones. */
  async setLimits(id: string, change: LimitsChange, sender?: Sender): Promise<HeldLimits> {
    return updateRun(this.client, id, SET_LIMITS_UPDATE, change, ...argsOf(sender));
  }

  /** Approves the waiting plan. @param seen the plan as it was shown; any other is refused. Default: the current one */
  async approvePlan(id: string, seen?: Plan, sender?: Sender): Promise<void> {
    const plan = seen ?? (await this.planOf(id)) ?? { steps: [] };
    await updateRun(this.client, id, APPROVE_PLAN_UPDATE, plan, ...argsOf(sender));
  }

  /** Replaces the waiting plan, and returns the new one as the run accepted it. */
  async editPlan(id: string, plan: Plan, sender?: Sender): Promise<Plan> {
    return updateRun(this.client, id, EDIT_PLAN_UPDATE, plan, ...argsOf(sender));
  }

  /** Rejects the waiting plan: the Conductor is given the reason, and writes another one. */
  async rejectPlan(id: string, reason: string, sender?: Sender): Promise<void> {
    await updateRun(this.client, id, REJECT_PLAN_UPDATE, { reason }, ...argsOf(sender));
  }

  /** Decides on a call of a tool that waits. One that repeats a decision changes nothing. */
  async decideCall(id: string, decision: CallDecision, sender?: Sender): Promise<void> {
    const { refuseMisfit } = await import('./tools/refuse-misfit.js');
    await refuseMisfit(this.client, this.store, id, decision);
    await updateRun(this.client, id, DECIDE_CALL_UPDATE, decision, ...argsOf(sender));
  }

  /** Returns what is known of a call that `stream` told; null: it told none of this id. */
  async findCall(id: string): Promise<ToldCall | null> {
    return findCall(this.store, id);
  }

  /** Gives results of the caller's functions to the runs that wait for them. @throws as `giveResults` */
  async submit(results: readonly CallerResult[], beside?: Beside): Promise<void> {
    await giveResults(this.client, this.store, results, beside);
  }

  /** Returns the context in which `parsePlan` reads a plan for this run, and in which the run would validate it now. */
  async planContext(id: string): Promise<PlanContext> {
    return contextOf(await this.readResolved(id), await this.limits(id));
  }

  /** Starts a run that continues an earlier one from a step. @throws BadRetryError for an unknown step or worker */
  async retry(
    id: string,
    request: RetryRequest,
    newId: string = newRetryId(id),
    options: StartOptions = {},
  ): Promise<SolveHandle> {
    const before = await this.readResolved(id);
    if (request.worker !== undefined) checkWorker(before, id, request.worker);
    return this.launch(retryInput(before.input, before.trace, request), newId, options);
  }

  /** Asks a run to stop: its HTTP calls are closed, nothing more is sent, and it ends as cancelled. */
  async cancel(id: string): Promise<void> {
    await this.client.workflow.getHandle(id).cancel();
  }

  private async launch(input: SolveInput, id: string, options: StartOptions): Promise<SolveHandle> {
    const { client, taskQueue, criteria } = this;
    const place = { client, taskQueue, criteria };
    return this.handleOf(id, await launchSolve(place, await carrying(input), id, options));
  }

  private handleOf(id: string, runId: string): SolveHandle {
    const run = { id, runId };
    return { ...run, result: () => this.resultOf(run) };
  }

  private async resultOf(run: Pick<SolveHandle, 'id' | 'runId'>): Promise<SolveResult> {
    // Takes one long poll, however much happens in the run; following it would take one per event.
    const end = this.client.workflow.getHandle(run.id, run.runId).result();
    const left = await end.then(readTraceLeft, (error: unknown) => {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return readTraceLeft(error.cause instanceof ApplicationFailure ? error.cause.details?.[0] : undefined);
    });
    // A run that was cancelled or terminated leaves no trace.
    const trace =
      left === null
        ? await readTree(this.read, run.id)
        : await addChildren(this.read, await addLedger(left, this.store));
    return resolveTrace(trace, reading(this.store));
  }

  /** Reads a run as it stands: its history, and what the server knows of its calls besides. */
  private async readNow(id: string): Promise<SolveTrace> {
    const trace = await readTree(this.read, id);
    return trace.status === 'running' ? withWait(trace, await this.retries(id)) : trace;
  }

  private readonly read: ReadRun = (id, following) => this.readRun(id, following);

  private async *readRun(id: string, following: AbortSignal | null): AsyncGenerator<SolveTrace> {
    for await (const { trace, run } of readRunHistory(this.client, id, following)) {
      await checkStoreId(this.store, run?.storeId, 'client');
      yield trace.status === 'running' ? trace : await addLedger(trace, this.store);
    }
  }

  private async planOf(id: string): Promise<Plan | null | undefined> {
    const { trace } = await readRunNow(this.client, id);
    return trace.rounds.findLast(({ childId }) => childId === null)?.plan;
  }

  private async readResolved(id: string): Promise<ResolvedKnownRun> {
    const { run, ...known } = await readRunNow(this.client, id);
    if (run === null) throw new RefusedError(`run ${id} has no plan yet: try again when it has`);
    await checkStoreId(this.store, run.storeId, 'client');
    return { ...known, run };
  }
}

function argsOf(sender: Sender | undefined): readonly Sender[] {
  return sender === undefined ? [] : [sender];
}
