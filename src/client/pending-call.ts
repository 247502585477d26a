import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { CONDUCTOR_ID, type Plan } from '../plan/plan';
import { isRecord } from '../plan/validate';
import {
  type CallProgress,
  type WorkerRequest,
  type WorkerResult,
  type WritePlanRequest,
  type WritePlanResult,
} from '../protocol/activity-contract';
import type { ExternalCard } from '../protocol/cards';
import { isSolveInput, type Parent } from '../protocol/input';
import { FAILURES } from '../protocol/failures';
import { CALL_TOOL, CHECK_ANSWER, CHECK_ARGUMENTS, SOLVE_PART_WORKFLOW, WRITE_PLAN } from '../protocol/names';
import { readExternalResult, takesConfigured } from '../protocol/planning';
import type { SolveTrace } from '../protocol/solve';
import { resultText } from '../protocol/tool-result';
import type { ToolAnswer, ToolRequest } from '../protocol/tool-use';
import {
  type ChildOutcome,
  conductorCalled,
  externalAnswered,
  failedChild,
  ownStepEnded,
  ownStepStarted,
  readFailure,
  reviewed,
  type RunEvent,
  stepAnswered,
  stepFailed,
  stepStarted,
} from '../trace/events';
import { failedAnswer, misfitAnswer, paidCalls, toolCalled, toolEnded } from '../trace/tool-events';
import { HistoryDecoder, isoTime, readHistory } from './history';
import { unlessNotFound } from './server-errors';

/** A model call or a solve by a child, and the events that the workflow records for it. */
export interface PendingCall {
  readonly started: readonly RunEvent[];
  readonly standIn?: Plan;
  readonly succeed: (result: unknown, at: string) => RunEvent[];
  readonly fail: (error: Error, at: string) => RunEvent[];
}

type RunPosition = Readonly<{ round: number; depth: number; now: string }>;

/** Reads a started call for a trace; null for anything else. `childId` is a child's workflow id. */
export function readPendingCall(
  { type, childId, input }: { type?: string | null; childId?: string | null; input: unknown },
  at: RunPosition,
): PendingCall | null {
  if (type === WRITE_PLAN) return planCall(input as WritePlanRequest, at);
  const parent = type === SOLVE_PART_WORKFLOW && isSolveInput(input) ? input.parent : undefined;
  if (childId && parent !== undefined) return childCall(childId, parent, at);
  if (type === CHECK_ARGUMENTS) return argumentsCheck(input as ToolRequest);
  if (isToolRequest(input)) return toolCall(input, at, type === CALL_TOOL);
  return isWorkerRequest(input) ? stepCall(input, at, type === CHECK_ANSWER) : null;
}

function planCall(request: WritePlanRequest, { depth, now }: RunPosition): PendingCall {
  const { round } = request;
  return {
    started: [{ kind: 'plan-asked', round, depth, isGiven: takesConfigured(request), at: now }],
    succeed: (result, at) => {
      const called = conductorCalled(request, result as WritePlanResult, at);
      const { plan } = result as WritePlanResult;
      return plan === null ? [called] : [called, { kind: 'planned', round, plan, degraded: false }];
    },
    fail: (error, at) => [conductorCalled(request, readFailure(error, CONDUCTOR_ID), at)],
  };
}

/** @param isOurs whether an activity of ours gives the result */
function stepCall(request: WorkerRequest, { now }: RunPosition, isOurs: boolean): PendingCall {
  const { worker, subtask } = request;
  const fail = (error: unknown, at: string): RunEvent[] => [
    stepFailed(request, readFailure(error, worker.id), at),
  ];
  return {
    started: [stepStarted(request, now)],
    standIn: { steps: [{ worker: worker.id, subtask, sees: [] }] },
    succeed: (result, at) => {
      if (isOurs || worker.kind === 'model') return [stepAnswered(request, result as WorkerResult)];
      try {
        const answer = externalResultOf(request, worker, result, at);
        // If the answer must fit a schema, the activity that checks it returns it.
        return request.answerSchema === undefined ? [stepAnswered(request, answer)] : [];
      } catch (error) {
        // An external worker must not return this: the workflow counts the call as failed, and so does its trace.
        return fail(error, at);
      }
    },
    fail,
  };
}

function externalResultOf(
  request: WorkerRequest,
  worker: ExternalCard,
  result: unknown,
  at: string,
): WorkerResult {
  return externalAnswered(request, readExternalResult(result, worker), { startedAt: at, endedAt: at });
}

/** @param isOurs whether an activity of ours gives the result */
function toolCall(request: ToolRequest, { now }: RunPosition, isOurs: boolean): PendingCall {
  const end = (answer: ToolAnswer, at: string): RunEvent[] => [
    toolEnded(request, answer, at, paidCalls(request, answer)),
  ];
  return {
    started: [toolCalled(request, now)],
    succeed: (result, at) => {
      if (isOurs) return end(result as ToolAnswer, at);
      return end({ outcome: 'ok', output: resultText(result, request.resultBytes) }, at);
    },
    fail: (error, at) => end(failedAnswer(error, request, isOurs), at),
  };
}

/** A call is ended by its check if its arguments do not fit, and begins after it if they do. */
function argumentsCheck(request: ToolRequest): PendingCall {
  return {
    started: [],
    succeed: (misfit, at) =>
      typeof misfit === 'string' ? [toolEnded(request, misfitAnswer(misfit), at)] : [],
    fail: () => [],
  };
}

function isToolRequest(input: unknown): input is ToolRequest {
  return isRecord(input) && 'tool' in input && 'turn' in input && 'ordinal' in input;
}

function isWorkerRequest(input: unknown): input is WorkerRequest {
  return isRecord(input) && 'worker' in input && 'subtask' in input && 'step' in input;
}

function childCall(childId: string, parent: Parent, { round, now }: RunPosition): PendingCall {
  const { step, run } = parent;
  const { model } = run.conductor;
  const end = (outcome: ChildOutcome, endedAt: string): RunEvent[] => [
    { kind: 'child-ended', childId, ...outcome },
    step === undefined
      ? reviewed(round, outcome)
      : ownStepEnded({ round, step, startedAt: now, endedAt }, outcome),
  ];
  return {
    started:
      step === undefined
        ? reviewStarted(round, childId, parent)
        : [ownStepStarted({ round, step, childId, model, at: now })],
    succeed: (result, at) => end({ trace: result as SolveTrace, problem: null }, at),
    fail: (error, at) => end(failedChild(error, childId), at),
  };
}

/** A review begins when a round has its answer, which the child is given. */
function reviewStarted(reviewed: number, childId: string, { round, depth, review }: Parent): RunEvent[] {
  const answered: RunEvent[] = review ? [{ kind: 'answered', round: reviewed, answer: review.answer }] : [];
  return [...answered, { kind: 'review-started', round, depth, childId }];
}

/** Names what an activity of a run was scheduled for: `step 2 (alpha)` or `the plan`; null if it is no model call. */
export async function nameCall(
  client: Client,
  workflowId: string,
  activityId: string | null | undefined,
): Promise<string | null> {
  const decoder = new HistoryDecoder(client.options.loadedDataConverter);
  for await (const events of readHistory(client, { workflowId }, null)) {
    const scheduled = events
      .map((event) => event.activityTaskScheduledEventAttributes)
      .find((attributes) => attributes != null && attributes.activityId === activityId);
    if (!scheduled) continue;
    if (scheduled.activityType?.name === WRITE_PLAN) return 'the plan';
    const input = await decoder.first(scheduled.input);
    if (isToolRequest(input)) return `the call of ${input.tool.name} for step ${input.step + 1}`;
    return isWorkerRequest(input) ? `step ${input.step + 1} (${input.worker.id})` : null;
  }
  return null;
}

/** A call that failed at no cost and waits for a retry, that waits in mid-attempt, or is paused. None is in a history. */
export interface Retry {
  readonly attempt: number;
  readonly reason: string;
  /** Set if the call goes on once a person has mended this, or has ended its pause in Temporal. */
  readonly waitsFor?: 'store' | 'pause';
  /** Set while a rate limit of its card or server (429) delays it; `childId` names the child run that it is for. */
  readonly rate?: { readonly childId: string | null; readonly call: string; readonly until: string };
}

const RATES: readonly unknown[] = [FAILURES.rateLimited, FAILURES.throttled];
const OF_STORE: readonly unknown[] = [FAILURES.storeUnavailable, FAILURES.otherStore];
/** `PendingActivityState` of Temporal's API: no worker has it, or one works on it. */
const [SCHEDULED, STARTED] = [1, 2];

/** Returns the calls of a run, and of the runs below it, that wait: for a retry, for the store, or for the end of a pause. */
export async function readRetries(
  client: Client,
  id: string,
  childId: string | null = null,
): Promise<Retry[]> {
  const { raw } = await client.workflow.getHandle(childId ?? id).describe();
  const decoder = new HistoryDecoder(client.options.loadedDataConverter);
  const own = (raw.pendingActivities ?? []).map(async (pending): Promise<Retry[]> => {
    const attempt = pending.attempt ?? 1;
    if (pending.paused === true) {
      const reason = await describePause(client, childId ?? id, pending.activityId);
      return [{ attempt, reason, waitsFor: 'pause' }];
    }
    const held = await waitIn(decoder, pending);
    if (held !== undefined) return [{ attempt, reason: held, waitsFor: 'store' }];
    return pending.lastFailure == null
      ? []
      : [{ attempt, ...(await readRetry(client, decoder, pending, { id, childId })) }];
  });
  const parts = (raw.pendingChildren ?? []).filter(
    ({ workflowTypeName }) => workflowTypeName === SOLVE_PART_WORKFLOW,
  );
  // A child that the server is about to start, or has forgotten, waits for nothing.
  const below = parts.map(
    async ({ workflowId }) => (await unlessNotFound(readRetries(client, id, workflowId))) ?? [],
  );
  return (await Promise.all([...own, ...below])).flat();
}

type Pending = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

async function readRetry(
  client: Client,
  decoder: HistoryDecoder,
  { activityId, lastFailure, state, nextAttemptScheduleTime }: Pending,
  { id, childId }: { readonly id: string; readonly childId: string | null },
): Promise<Omit<Retry, 'attempt'>> {
  const error = await decoder.failure(lastFailure);
  // Our own messages name the worker; a timeout of the server names nobody.
  const lost = lastFailure?.timeoutFailureInfo ? await nameCall(client, childId ?? id, activityId) : null;
  const reason = lost === null ? error.message : `${lost} lost its worker process (${error.message})`;
  const type = error instanceof ApplicationFailure && Number(state) === SCHEDULED ? error.type : null;
  const rate = { childId, call: activityId ?? '', until: isoTime(nextAttemptScheduleTime) };
  return {
    reason,
    ...(RATES.includes(type) && { rate }),
    ...(OF_STORE.includes(type) && { waitsFor: 'store' }),
  };
}

/** Returns why the store does not take the answer of a call, as its heartbeats tell; undefined if it does. */
async function waitIn(
  decoder: HistoryDecoder,
  { state, heartbeatDetails }: Pending,
): Promise<string | undefined> {
  if (Number(state) !== STARTED) return undefined;
  const progress = (await decoder.first(heartbeatDetails)) as Partial<CallProgress> | undefined;
  return progress?.waitsForStore;
}

/** Adds to a running run's trace what its calls wait for; a wait that its own history tells comes first. */
export function withWait(trace: SolveTrace, retries: readonly Retry[]): SolveTrace {
  const held = retries.find(({ waitsFor }) => waitsFor !== undefined);
  if (held?.waitsFor === undefined || trace.waitsFor !== undefined) return trace;
  return { ...trace, waitsFor: held.waitsFor, waitReason: held.reason };
}

async function describePause(
  client: Client,
  workflowId: string,
  activityId?: string | null,
): Promise<string> {
  const call = (await nameCall(client, workflowId, activityId)) ?? 'a call';
  const command = `temporal activity unpause --workflow-id ${workflowId} --activity-id ${activityId ?? ''}`;
  return `${call} is paused in Temporal: "${command}" lets it go on`;
}
