import {
  ActivityCancellationType,
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  proxyActivities,
} from '@temporalio/workflow';
import type { WorkerRequest, WorkerResult } from '../protocol/activities';
import { readExternalResult } from '../protocol/external-worker';
import { CALL_WORKER, KEEP_TEXT } from '../protocol/names';
import { INLINE_BYTES, type Text } from '../protocol/text';
import type { ExternalCard, ModelCard } from '../pool/card';
import { unaccountedCall } from '../trace/unaccounted-call';
import { modelActivities, queueFor, storeActivities } from './activities';
import { now } from './now';
import type { RunContext } from './run-context';

/** How often Temporal repeats an external activity that fails; its own failures may say "never". */
const EXTERNAL_ATTEMPTS = 3;
const SUMMARY_CHARACTERS = 80;

/** Calls the worker a step names: a model through our activity, or the user's own activity or workflow. */
export async function callWorker(context: RunContext, request: WorkerRequest): Promise<WorkerResult> {
  const { worker } = request;
  return worker.kind === 'model'
    ? callModelWorker(context, request, worker)
    : callExternalWorker(context, request, worker);
}

async function callModelWorker(
  { run, limits }: RunContext,
  request: WorkerRequest,
  worker: ModelCard,
): Promise<WorkerResult> {
  const activities = modelActivities({
    remainingMs: limits.remainingMs(),
    heartbeatMs: run.heartbeatMs,
    summary: summaryOf(request, worker.model),
    ...queueFor(run, worker),
  });
  return activities[CALL_WORKER](request);
}

async function callExternalWorker(
  context: RunContext,
  request: WorkerRequest,
  worker: ExternalCard,
): Promise<WorkerResult> {
  const startedAt = now();
  const result = readExternalResult(await runExternal(context, request, worker), worker);
  const output = await keepIfLong(result.text);
  return {
    output,
    calls: [unaccountedCall(request, null, result.usage)],
    dropped: [],
    startedAt,
    endedAt: now(),
  };
}

async function runExternal(
  context: RunContext,
  request: WorkerRequest,
  worker: ExternalCard,
): Promise<unknown> {
  const { type, taskQueue } = worker;
  const timeout = Math.min(worker.timeoutMs, context.limits.remainingMs());
  const summary = summaryOf(request, type);
  if (worker.kind === 'workflow') {
    return executeChild(type, {
      args: [request],
      taskQueue,
      workflowExecutionTimeout: timeout,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      // An agent may have to tidy up: it is asked to stop, never cut off.
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      staticSummary: summary,
    });
  }
  const activities = proxyActivities<Record<string, (request: WorkerRequest) => Promise<unknown>>>({
    taskQueue,
    scheduleToCloseTimeout: timeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: EXTERNAL_ATTEMPTS },
    summary,
  });
  return activities[type]?.(request);
}

async function keepIfLong(text: string): Promise<Text> {
  // At most three UTF-8 bytes per UTF-16 unit: short enough without counting.
  if (text.length * 3 <= INLINE_BYTES) return text;
  return storeActivities('keep a long output')[KEEP_TEXT](text);
}

function summaryOf({ step, worker, subtask }: WorkerRequest, model: string): string {
  return `step ${step + 1} · ${worker.id} (${model}) · ${subtask.slice(0, SUMMARY_CHARACTERS).replace(/\s+/g, ' ')}`;
}
