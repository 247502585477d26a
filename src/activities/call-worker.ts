import { ApplicationFailure } from '@temporalio/activity';
import type { OutputSchema } from '../plan/plan';
import { repairOf, sharedCharacters, workerMessages, type WorkerPrompt } from '../plan/prompt/worker';
import type { Reserved, WorkerRequest, WorkerResult } from '../protocol/activity-contract';
import type { ModelCard } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import type { ToolUse, Turn } from '../protocol/parts';
import { readPrompt } from './keep-input';
import { callModel } from './durable-call';
import { checkAnswer } from './check-answer';
import type { Dependencies, ModelCall } from './send-request';
import { readToolUse } from './tool-turns';

/** Activity `conductor.callWorker`: sends a model one subtask and all that the step may see. Throws as `callModel`. */
export async function callWorker(
  dependencies: Dependencies,
  request: Reserved<WorkerRequest>,
): Promise<WorkerResult> {
  const {
    worker,
    round,
    step,
    seed,
    rootId,
    identity,
    hasFallback,
    sharesPrompt,
    allowance,
    live,
    toolTurn,
  } = request;
  if (worker.kind !== 'model') {
    const problem = `worker ${worker.id} is a Temporal ${worker.kind}, which the workflow calls by itself`;
    throw ApplicationFailure.nonRetryable(problem, FAILURES.configuration);
  }
  const { store } = dependencies;
  const prompt = await readPrompt(store, { ...request, worker });
  const toolUse = toolTurn && withRepair(await readToolUse(store, toolTurn), prompt);
  // While it may call tools, its answer's form is checked and not forced: some vendors take only one of both.
  const isForced = worker.capabilities.jsonSchema && toolUse?.mayCall !== true;
  const result = await callModel(dependencies, {
    purpose: 'step',
    round,
    step,
    worker: worker.id,
    card: worker,
    messages: workerMessages(toolUse === undefined ? prompt : { ...prompt, failed: undefined }),
    ...(toolUse && { toolUse, toolTurn }),
    ...(sharesPrompt === true && { sharedCharacters: sharedCharacters(prompt) }),
    ...roomOf(request, worker),
    outputSchema: isForced ? answerOutputSchema(prompt) : undefined,
    timeoutMs: worker.timeoutMs,
    allowance,
    seed,
    rootId,
    identity,
    hasFallback,
    live,
  });
  return result.turn === undefined ? checkAnswer(store, request, result) : result;
}

/** An answer that did not fit comes after the exchange that led to it. */
function withRepair(use: ToolUse, { failed }: WorkerPrompt): ToolUse {
  const turns = repairOf(failed).map(({ role, text }): Turn => ({
    role: role === 'assistant' ? role : 'user',
    parts: [{ kind: 'text', text }],
  }));
  return { ...use, turns: [...use.turns, ...turns] };
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
