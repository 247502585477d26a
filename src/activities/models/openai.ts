import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import {
  type BackgroundCalls,
  chooseSettings,
  type Complete,
  type FinishReason,
  type ListModels,
  type ModelReply,
  type ModelRequest,
  type Settings,
  toConversation,
} from './model';
import { noErrorSchema, readReply, tierSchema } from './reply';
import { beginResponse, cancelResponse, completeResponse, EFFORTS, lookAtResponse } from './openai-responses';
import { chatUsageSchema, usageOf, USUAL_TIER } from './openai-usage';
import { NO_TIMEOUT_MS, sendWith } from './transport';

/** OpenAI, and every server that speaks one of its two APIs: vLLM, llama.cpp, Ollama, OpenRouter and others. */
export const completeOpenAI: Complete = async (request) => {
  const client = await openClient(request);
  return request.card.api === 'responses'
    ? completeResponse(client, request)
    : completeChat(client, request, chooseSettings(request, { seed: true, efforts: EFFORTS }));
};

export const backgroundOpenAI: BackgroundCalls = {
  begin: async (request) => beginResponse(await openClient(request), request),
  look: async (request, id) => lookAtResponse(await openClient(request), request, id),
  cancel: async (request, id) => cancelResponse(await openClient(request), request, id),
};

export const listOpenAI: ListModels = async ({ signal, ...place }) => {
  const { data } = await (await openClient(place)).models.list({ signal });
  // llama.cpp answers to any name with the one model that it has.
  return data.flatMap(({ id, owned_by: owner }) => (owner === 'llamacpp' ? [] : [id]));
};

/** A client for one request; it holds no socket, so there is nothing to close. */
async function openClient({
  card,
  apiKey,
  callId,
}: Pick<ModelRequest, 'card' | 'apiKey' | 'callId'>): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    // null, where the card names none, keeps the SDK from another address in the environment.
    baseURL: card.baseUrl,
    apiKey: apiKey ?? 'none',
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    fetch: sendWith({
      Authorization: apiKey === null ? null : `Bearer ${apiKey}`,
      // Id to look for in the logs of OpenAI, or of a gateway before it.
      'X-Client-Request-Id': callId,
    }),
    logLevel: 'off',
  });
}

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
type ChatSettings = Settings<NonNullable<OpenAI.ReasoningEffort>>;

const choiceSchema = z.object({
  message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
  finish_reason: z.string().nullish(),
});

const completionSchema = z.object({
  choices: z.tuple([choiceSchema], z.unknown()),
  service_tier: tierSchema,
  usage: chatUsageSchema.nullish().catch(null),
  error: noErrorSchema,
});

/** The API that OpenAI-compatible servers have in common. */
async function completeChat(
  client: OpenAI,
  request: ModelRequest,
  settings: ChatSettings,
): Promise<ModelReply> {
  const body = await client.chat.completions.create(toBody(request, settings), { signal: request.signal });
  const completion = readReply(completionSchema, body);
  const { message, finish_reason: reason } = completion.choices[0];
  const refusal = message.refusal ?? null;
  return {
    text: message.content ?? '',
    finish: refusal === null ? finishOf(reason) : 'refusal',
    refusal,
    ...usageOf(completion),
    dropped: settings.dropped,
  };
}

/** OpenAI's reasoning models reject `max_tokens`; other servers may ignore `max_completion_tokens`. */
function toBody({ card, messages }: ModelRequest, settings: ChatSettings): Body {
  const { system, turns } = toConversation(messages);
  const { temperature, seed, effort, outputSchema, maxOutputTokens } = settings;
  return {
    model: card.model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...turns.map(({ role, text }) => ({ role, content: text })),
    ],
    ...(card.baseUrl === null
      ? { max_completion_tokens: maxOutputTokens, service_tier: USUAL_TIER }
      : // eslint-disable-next-line @typescript-eslint/no-deprecated -- by OpenAI, not by the others
        { max_tokens: maxOutputTokens }),
    ...(temperature !== null && { temperature }),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- by OpenAI, not by the others
    ...(seed !== null && { seed }),
    ...(effort !== null && { reasoning_effort: effort }),
    ...(outputSchema !== null && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: outputSchema.name, schema: outputSchema.schema, strict: true },
      },
    }),
  };
}

function finishOf(reason: string | null | undefined): FinishReason {
  if (reason === 'length') return 'length';
  return reason === 'content_filter' ? 'refusal' : 'stop';
}
