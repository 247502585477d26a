import { patched } from '@temporalio/workflow';
import { readThoughts } from '../../plan/thoughts/read-thoughts';
import type { WorkerRequest, WorkerResult } from '../../protocol/activity-contract';
import type { ExternalCard } from '../../protocol/cards';
import { CHECK_ANSWER } from '../../protocol/names';
import { readExternalResult } from '../../protocol/planning';
import type { Usage } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import { externalAnswered, readFailure, stepFailed, unaccountedCall } from '../../trace/events';
import { keepIfLong, stepSummary, storeActivities } from '../activities';
import { now } from '../failures';
import { openRow } from '../ledger/open-row';
import type { RunContext } from '../run-context';
import { runExternal } from './run-external';

/** How often Temporal attempts an activity that is a worker. */
const EXTERNAL_ATTEMPTS = 3;

/** Calls a worker that is an activity or a workflow of the user's. */
export async function callExternalWorker(
  context: RunContext,
  request: WorkerRequest,
  worker: ExternalCard,
): Promise<WorkerResult> {
  const startedAt = now();
  const { text, usage } = await booked(request, worker, async () =>
    readExternalResult(await runAgent(context, request, worker), worker),
  );
  // A run that began before thoughts were taken out goes on without that.
  const mayTakeOut = readThoughts(text).answer === text || patched(APART);
  const whole = externalAnswered(request, { text, usage }, { startedAt, endedAt: now() }, mayTakeOut);
  const keep = (kept: Text): Promise<Text> => keepIfLong(kept, request.storeId);
  const result = {
    ...whole,
    output: await keep(whole.output),
    ...(whole.thoughts !== undefined && { thoughts: await keep(whole.thoughts) }),
    endedAt: now(),
  };
  if (request.answerSchema === undefined) return result;
  // The history reader takes this result for that of the call before (rule 3 of `client/trace-reader.ts`).
  return storeActivities('check the answer')[CHECK_ANSWER]({ ...request, result });
}

/** Makes a priced call, with a ledger row opened before it. */
async function booked<Result extends { readonly usage: Usage | null }>(
  request: WorkerRequest,
  worker: ExternalCard,
  make: () => Promise<Result>,
): Promise<Result> {
  if (worker.price === undefined) return make();
  const complete = await openRow(request, unaccountedCall(request, null, null));
  try {
    const result = await make();
    await complete(unaccountedCall(request, null, result.usage));
    return result;
  } catch (error) {
    const failure = readFailure(error, worker.id);
    const [call] = stepFailed(request, failure, now()).calls;
    await complete(call ?? { ...unaccountedCall(request, failure.problem, null), nanoUsd: 0 });
    throw error;
  }
}

// A function of its own: the order of commands in a history depends on how many promises lie between them.
async function runAgent(
  { limits }: RunContext,
  request: WorkerRequest,
  worker: ExternalCard,
): Promise<unknown> {
  return runExternal(worker, request, {
    timeoutMs: Math.min(worker.timeoutMs, limits.timeToStart()),
    attempts: EXTERNAL_ATTEMPTS,
    summary: stepSummary(request.step, request.subtask, `${worker.id} (${worker.type})`),
  });
}

/** Change: thoughts are taken out of what the user's own activities and workflows return. */
const APART = 'thoughts-apart';
