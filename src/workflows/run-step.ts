import { ApplicationFailure } from '@temporalio/workflow';
import type { Plan } from '../plan/plan';
import type { VisibleStep, WorkerRequest } from '../protocol/activities';
import { FAILURES } from '../protocol/failures';
import type { RunWorker } from '../protocol/run';
import type { CallFailure } from '../trace/read-failure';
import { stepAnswered, stepFailed, stepStarted } from '../trace/step-events';
import { callWorker } from './call-worker';
import { isOwnCancellation, mayBeBoughtAgain, readCallFailure } from './failure';
import { now, remainingMs, type RunContext } from './run-context';

/** How often one worker is asked again after a call that may have been billed without an answer. */
const MAX_REPURCHASES = 1;
/** A cut answer is asked for once more with this much more room. */
const MORE_ROOM = 4;

/** One step of a plan that is ready to run. */
export interface ReadyStep {
  readonly round: number;
  readonly step: number;
  readonly plan: Plan;
  readonly sees: readonly VisibleStep[];
}

/**
 * Runs one step: its worker, then each of its fallbacks, until one answers. Nothing is thrown but the run's own
 * cancellation: a step that fails for good is recorded with its reason and an empty output.
 */
export async function runStep(context: RunContext, ready: ReadyStep): Promise<void> {
  const planned = ready.plan.steps[ready.step];
  if (planned === undefined) return;
  const workers = candidates(context, planned.worker);
  for (const [index, worker] of workers.entries()) {
    const isLast = index === workers.length - 1;
    const request = requestFor(context, ready, worker, planned);
    if (await askWorker(context, isLast ? request : { ...request, othersLeft: true })) return;
  }
}

/** The planned worker and its fallbacks, as far as this run may use them. */
function candidates({ run }: RunContext, planned: string): RunWorker[] {
  const byId = new Map(run.workers.map((worker) => [worker.id, worker]));
  const ids = [planned, ...(byId.get(planned)?.fallback ?? [])];
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function requestFor(
  { question, seed }: RunContext,
  { round, step, sees }: ReadyStep,
  worker: RunWorker,
  planned: Plan['steps'][number],
): WorkerRequest {
  const request = { question, subtask: planned.subtask, sees, round, step, worker };
  return {
    ...request,
    ...(worker.id === planned.worker ? {} : { fallbackFor: planned.worker }),
    ...(seed === undefined ? {} : { seed }),
  };
}

/** Asks one worker until it answers or has failed for good; true when it answered. */
async function askWorker(context: RunContext, first: WorkerRequest): Promise<boolean> {
  let request = first;
  for (let repurchases = 0; ; repurchases += 1) {
    const failure = await tryWorker(context, request);
    if (failure === null) return true;
    if (repurchases >= MAX_REPURCHASES) return false;
    if (failure.problem.type === FAILURES.truncated) {
      const room = moreRoom(request);
      if (room === null) return false;
      request = { ...request, maxOutputTokens: room };
    } else if (!mayBeBoughtAgain(failure.problem)) return false;
  }
}

async function tryWorker(context: RunContext, request: WorkerRequest): Promise<CallFailure | null> {
  const { recorder, run } = context;
  const { wallClockMs } = run.limits;
  recorder.record(stepStarted(request, now()));
  try {
    if (remainingMs(wallClockMs) === 0) throw outOfTime(wallClockMs);
    recorder.record(stepAnswered(request, await callWorker(context, request)));
    return null;
  } catch (error) {
    // A call that the run's end cut off looks like a slow worker; the reason is the limit.
    const reason =
      remainingMs(wallClockMs) === 0 && !isOwnCancellation(error) ? outOfTime(wallClockMs) : error;
    const failure = readCallFailure(reason, request.worker.id);
    recorder.record(stepFailed(request, failure, now()));
    return failure;
  }
}

/** A higher output limit for a model that was cut, or null where it has none. */
function moreRoom({ worker, maxOutputTokens }: WorkerRequest): number | null {
  if (worker.kind !== 'model') return null;
  const before = maxOutputTokens ?? worker.maxOutputTokens;
  const after = Math.min(before * MORE_ROOM, worker.capabilities.maxOutputTokens ?? Infinity);
  return after > before ? after : null;
}

function outOfTime(wallClockMs: number): ApplicationFailure {
  const message = `the run's ${wallClockMs / 1000} s were used up before this step was done; raise limits.wallClock`;
  return ApplicationFailure.nonRetryable(message, FAILURES.wallClock);
}
