import { workerPromptBytes } from '../money/worker-prompt-bytes';
import { worstCaseOf, type WorstCase } from '../money/worst-case';
import type { Plan, Step } from '../plan/plan';
import type { VisibleStep, WorkerRequest } from '../protocol/activities';
import { FAILURES } from '../protocol/failures';
import { CONDUCTOR_ID } from '../protocol/names';
import type { RunWorker } from '../protocol/run';
import type { CallFailure } from '../trace/read-failure';
import { stepAnswered, stepFailed, stepStarted } from '../trace/call-events';
import { callItself } from './call-itself';
import { callWorker } from './call-worker';
import { mayBeBoughtAgain, readCallFailure } from './failure';
import type { Reservation } from './limits';
import { now } from './now';
import { mayCallItself, type RunContext } from './run-context';

/** How often one worker is asked again after a call that may have been billed without an answer. */
const MAX_REPURCHASES = 1;
/** A cut answer is asked for once more with this much more room. */
const MORE_ROOM = 4;

/** One step of a plan that is ready to run. */
export interface ReadyStep {
  readonly step: number;
  readonly plan: Plan;
  readonly sees: readonly VisibleStep[];
}

/**
 * Runs one step: its worker, then each of its fallbacks, until one answers; or a child workflow, where the Conductor
 * gave the step to itself. Nothing is thrown but the run's own cancellation: a step that fails for good is recorded
 * with its reason and an empty output.
 */
export async function runStep(context: RunContext, ready: ReadyStep): Promise<void> {
  const planned = ready.plan.steps[ready.step];
  if (planned === undefined) return;
  if (planned.worker === CONDUCTOR_ID && mayCallItself(context)) {
    await callItself(context, ready, planned);
    return;
  }
  const workers = candidates(context, planned.worker);
  for (const [index, worker] of workers.entries()) {
    const isLast = index === workers.length - 1;
    const request = requestFor(context, ready, worker, planned);
    if (await askWorker(context, isLast ? request : { ...request, othersLeft: true })) return;
  }
}

/**
 * The planned worker and its fallbacks, as far as this run may use them. For the Conductor, where the depth was
 * lowered since it wrote the plan, the first worker stands in.
 */
function candidates({ run }: RunContext, planned: string): readonly RunWorker[] {
  if (planned === CONDUCTOR_ID) return run.workers.slice(0, 1);
  const byId = new Map(run.workers.map((worker) => [worker.id, worker]));
  const ids = [planned, ...(byId.get(planned)?.fallback ?? [])];
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function requestFor(
  { input: { seed }, question, round, rootId, background }: RunContext,
  { step, sees }: ReadyStep,
  worker: RunWorker,
  planned: Step,
): WorkerRequest {
  const request = { rootId, question, subtask: planned.subtask, sees, round, step, worker };
  return {
    ...request,
    ...(worker.id === planned.worker ? {} : { fallbackFor: planned.worker }),
    ...(background.length > 0 && { background }),
    ...(seed === undefined ? {} : { seed }),
  };
}

/** Asks one worker until it answers or has failed for good; true when it answered. */
async function askWorker(context: RunContext, first: WorkerRequest): Promise<boolean> {
  let request = first;
  for (let repurchases = 0; ; repurchases += 1) {
    const failure = await tryWorker(context, { ...request, ...rolloutOf(context, repurchases) });
    if (failure === null) return true;
    if (repurchases >= MAX_REPURCHASES) return false;
    if (failure.problem.type === FAILURES.truncated) {
      const room = moreRoom(request);
      if (room === null) return false;
      request = { ...request, maxOutputTokens: room };
    } else if (!mayBeBoughtAgain(failure.problem)) return false;
  }
}

/** What a call of a rollout is named by: each try is a call of its own. */
function rolloutOf({ rollout }: RunContext, call: number): Pick<WorkerRequest, 'rollout'> {
  return rollout === undefined ? {} : { rollout: { ...rollout, call } };
}

async function tryWorker(context: RunContext, request: WorkerRequest): Promise<CallFailure | null> {
  const { recorder, limits } = context;
  recorder.record(stepStarted(request, now()));
  let reservation: Reservation | null = null;
  try {
    reservation = await limits.reserve(worstCaseOfCall(request));
    const result = await callWorker(context, { ...request, allowance: reservation.allowance });
    reservation.settle(result.calls);
    recorder.record(stepAnswered(request, result));
    return null;
  } catch (error) {
    const failure = readCallFailure(error, request.worker.id);
    // A call that the run's end cut off looks like a slow worker; the reason is the limit.
    const isCutOff = reservation !== null && limits.remainingMs() === 0;
    const told = isCutOff ? { ...failure, problem: limits.outOfTime() } : failure;
    const event = stepFailed(request, told, now());
    reservation?.settle(event.calls);
    recorder.record(event);
    return told;
  }
}

function worstCaseOfCall(request: WorkerRequest): WorstCase {
  const { worker, maxOutputTokens } = request;
  const most = maxOutputTokens ?? (worker.kind === 'model' ? worker.maxOutputTokens : 0);
  return worstCaseOf(worker, workerPromptBytes(request), most);
}

/** A higher output limit for a model that was cut, or null where it has none. */
function moreRoom({ worker, maxOutputTokens }: WorkerRequest): number | null {
  if (worker.kind !== 'model') return null;
  const before = maxOutputTokens ?? worker.maxOutputTokens;
  const after = Math.min(before * MORE_ROOM, worker.capabilities.maxOutputTokens ?? Infinity);
  return after > before ? after : null;
}
