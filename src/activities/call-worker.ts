import { ApplicationFailure } from '@temporalio/activity';
import type { OutputSchema } from '../plan/plan';
import { sharedCharacters, workerMessages, type WorkerPrompt } from '../plan/prompt/worker';
import type { Reserved, WorkerRequest, WorkerResult } from '../protocol/activity-contract';
import type { ModelCard } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import { readPrompt } from './keep-input';
import { callModel } from './durable-call';
import { checkAnswer } from './check-answer';
import type { Dependencies, ModelCall } from './send-request';

/** Activity `conductor.callWorker`: sends a model one subtask and all that the step may see. Throws as `callModel`. */
export async function callWorker(
  dependencies: Dependencies,
  request: Reserved<WorkerRequest>,
): Promise<WorkerResult> {
  const { worker, round, step, seed, rootId, identity, hasFallback, sharesPrompt, allowance, live } = request;
  if (worker.kind !== 'model') {
    const problem = `worker ${worker.id} is a Temporal ${worker.kind}, which the workflow calls by itself`;
    throw ApplicationFailure.nonRetryable(problem, FAILURES.configuration);
  }
  const { store } = dependencies;
  const prompt = await readPrompt(store, { ...request, worker });
  const result = await callModel(dependencies, {
    purpose: 'step',
    round,
    step,
    worker: worker.id,
    card: worker,
    messages: workerMessages(prompt),
    ...(sharesPrompt === true && { sharedCharacters: sharedCharacters(prompt) }),
    ...roomOf(request, worker),
    outputSchema: worker.capabilities.jsonSchema ? answerOutputSchema(prompt) : undefined,
    timeoutMs: worker.timeoutMs,
    allowance,
    seed,
    rootId,
    identity,
    hasFallback,
    live,
  });
  return checkAnswer(store, request, result);
}

function roomOf(
  { maxOutputTokens, maxAnswerTokens }: WorkerRequest,
  card: ModelCard,
): Pick<ModelCall, 'maxOutputTokens' | 'maxAnswerTokens'> {
  const room = maxOutputTokens ?? card.maxOutputTokens;
  const binds = maxAnswerTokens === Math.min(room, card.capabilities.maxOutputTokens ?? Infinity);
  return { maxOutputTokens: room, ...(binds && { maxAnswerTokens }) };
}

/** Returns the schema of the answer without `$schema`, which vendors do not support. */
function answerOutputSchema({ answerSchema }: WorkerPrompt): OutputSchema | undefined {
  if (answerSchema === undefined) return undefined;
  const schema: Record<string, unknown> = { ...(JSON.parse(answerSchema) as OutputSchema['schema']) };
  delete schema.$schema;
  return { name: 'answer', schema };
}
