import { ApplicationFailure } from '@temporalio/activity';
import { type GivenText, sharedCharacters, workerMessages, type WorkerPrompt } from '../plan/prompt/worker';
import type { Reserved, WorkerRequest, WorkerResult } from '../protocol/activity-contract';
import type { Background } from '../protocol/input';
import { FAILURES } from '../protocol/failures';
import type { Store } from '../store/store';
import { readText } from '../store/texts';
import { callModel } from './call-model';
import type { Dependencies } from './model-call';

/** Activity `conductor.callWorker`: one subtask to one model, with all that the step may see. Throws as `callModel`. */
export async function callWorker(
  dependencies: Dependencies,
  request: Reserved<WorkerRequest>,
): Promise<WorkerResult> {
  const { worker, round, step, seed, rootId, identity, hasFallback, sharesPrompt, allowance, live } = request;
  if (worker.kind !== 'model') {
    const problem = `worker ${worker.id} is a Temporal ${worker.kind}, which the workflow calls by itself`;
    throw ApplicationFailure.nonRetryable(problem, FAILURES.configuration);
  }
  const { layout, instructions } = worker;
  const prompt = { ...(await textsOf(dependencies.store, request)), layout, instructions };
  return callModel(dependencies, {
    purpose: 'step',
    round,
    step,
    worker: worker.id,
    card: worker,
    messages: workerMessages(prompt),
    ...(sharesPrompt === true && { sharedCharacters: sharedCharacters(prompt) }),
    maxOutputTokens: request.maxOutputTokens ?? worker.maxOutputTokens,
    timeoutMs: worker.timeoutMs,
    allowance,
    seed,
    rootId,
    identity,
    hasFallback,
    live,
  });
}

async function textsOf(
  store: Store,
  { question, subtask, sees, background = [] }: WorkerRequest,
): Promise<Omit<WorkerPrompt, 'layout' | 'instructions'>> {
  const [wholeQuestion, given, ...visible] = await Promise.all([
    readText(store, question),
    readBackground(store, background),
    ...sees.map(async (seen) => ({
      step: seen.step,
      subtask: await readText(store, seen.subtask),
      output: await readText(store, seen.output),
    })),
  ]);
  return { question: wholeQuestion, subtask, background: given, sees: visible };
}

export function readBackground(store: Store, background: readonly Background[]): Promise<GivenText[]> {
  return Promise.all(
    background.map(async ({ subtask, output }) => ({
      subtask: subtask && (await readText(store, subtask)),
      output: await readText(store, output),
    })),
  );
}
