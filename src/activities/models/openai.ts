import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import {
  type BackgroundCalls,
  chooseSettings,
  isStrict,
  type Complete,
  type FinishReason,
  type ListModels,
  type ModelReply,
  type ModelRequest,
  oneForEachPlace,
  type Settings,
  toConversation,
} from './model';
import { readReply, tierSchema } from './reply';
import {
  beginResponse,
  cancelResponse,
  completeResponse,
  EFFORTS,
  lookAtResponse,
  optionsFor,
  REQUEST_ID,
} from './openai-responses';
import { chatUsageSchema, usageOf, USUAL_TIER } from './openai-usage';
import { type Assembly, endAfter, failedMidway, readAnswer } from './stream';
import { NO_TIMEOUT_MS, sendWith } from './transport';

/** Calls OpenAI, or a server that speaks one of its two APIs: vLLM, llama.cpp, Ollama, OpenRouter and others. */
/** Loads the SDK, on first use. */
export const loadOpenAI = (): Promise<unknown> => import('openai');

export const completeOpenAI: Complete = async (request) => {
  const client = await openClient(request);
  return request.card.api === 'responses' ? completeResponse(client, request) : completeChat(client, request);
};

export const backgroundOpenAI: BackgroundCalls = {
  begin: async (request) => beginResponse(await openClient(request), request),
  look: async (request, id) => lookAtResponse(await openClient(request), request, id),
  cancel: async (request, id) => cancelResponse(await openClient(request), request, id),
};

export const listOpenAI: ListModels = async (place) => {
  const { data } = await (await openClient(place)).models.list(optionsFor(place));
  // llama.cpp serves its only model under any name, so its list does not count.
  return data.flatMap(({ id, owned_by: owner }) => (owner === 'llamacpp' ? [] : [id]));
};

const openClient = oneForEachPlace(async ({ card, apiKey }) => {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    // null, if the card names none, keeps the SDK from reading another address from the environment.
    baseURL: card.baseUrl,
    apiKey: apiKey ?? 'none',
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    fetch: sendWith(
      { Authorization: apiKey === null ? null : `Bearer ${apiKey}` },
      { ofRequest: REQUEST_ID, proxy: card.proxy },
    ),
    logLevel: 'off',
  });
});

type Body = OpenAI.Chat.ChatCompletionCreateParams;

const choiceSchema = z.object({
  message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
  finish_reason: z.string().nullish(),
});

const completionSchema = z.object({
  choices: z.tuple([choiceSchema], z.unknown()),
  service_tier: tierSchema,
  usage: chatUsageSchema.nullish().catch(null),
});

async function completeChat(client: OpenAI, request: ModelRequest): Promise<ModelReply> {
  const settings = chooseSettings(request, {
    // Other servers of this protocol support it.
    lacks: request.card.baseUrl === null ? ['topK'] : [],
    efforts: EFFORTS,
  });
  const response = await client.chat.completions
    .create(toBody(request, settings), optionsFor(request))
    .asResponse();
  const completion = readReply(completionSchema, await readAnswer(response, request, chatAssembly()));
  const { message, finish_reason: reason } = completion.choices[0];
  if (BROKEN_OFF.has(reason ?? '')) throw failedMidway(`finish_reason is ${reason ?? ''}`);
  const refusal = message.refusal ?? null;
  return {
    text: message.content ?? '',
    finish: refusal === null ? finishOf(reason) : 'refusal',
    refusal,
    ...usageOf(completion),
    dropped: settings.dropped,
  };
}

/** Finish reasons of servers that could not go on: vLLM, OpenRouter and DeepSeek. */
const BROKEN_OFF: ReadonlySet<string> = new Set(['abort', 'error', 'insufficient_system_resource']);

const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
  service_tier: z.unknown().optional(),
});

/** Usage is cumulative if it arrives more than once (SGLang, Gemini), so the last one counts. */
function chatAssembly(): Assembly {
  let [content, refusal] = ['', ''];
  let reason = '';
  let last: { readonly usage?: unknown; readonly service_tier?: unknown } = {};
  return {
    add: (event) => {
      const { choices, usage, service_tier } = readReply(chunkSchema, event);
      const { delta, finish_reason } = choices?.[0] ?? {};
      const text = delta?.content ?? '';
      content += text;
      refusal += delta?.refusal ?? '';
      reason = endAfter(reason, finish_reason, text);
      last = { usage: usage ?? last.usage, service_tier: service_tier ?? last.service_tier };
      return text;
    },
    body: () => {
      const message = { content, refusal: refusal || null };
      return reason === '' ? null : { choices: [{ message, finish_reason: reason }], ...last };
    },
    isOver: () => false,
  };
}

/**
 * OpenAI's reasoning models reject `max_tokens`, also at other addresses; other servers may ignore
 * `max_completion_tokens`.
 */
function toBody(
  { card, messages, withoutStreamOptions, withOtherLimitName }: ModelRequest,
  settings: Settings<NonNullable<OpenAI.ReasoningEffort>>,
): Body {
  const { system, turns } = toConversation(messages);
  const { temperature, topP, topK, presencePenalty, seed, effort, outputSchema, maxOutputTokens } = settings;
  const sampling = { temperature, top_p: topP, top_k: topK, presence_penalty: presencePenalty, seed };
  return {
    model: card.model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...turns.map(({ role, text }) => ({ role, content: text })),
    ],
    ...(card.idleTimeoutMs !== undefined && {
      stream: true,
      ...(withoutStreamOptions !== true && { stream_options: { include_usage: true } }),
    }),
    ...(card.baseUrl === null && { service_tier: USUAL_TIER }),
    ...((card.baseUrl === null) !== (withOtherLimitName === true)
      ? { max_completion_tokens: maxOutputTokens }
      : // eslint-disable-next-line @typescript-eslint/no-deprecated -- by OpenAI, not by the others
        { max_tokens: maxOutputTokens }),
    ...sampling,
    reasoning_effort: effort,
    response_format: outputSchema && {
      type: 'json_schema',
      json_schema: { name: outputSchema.name, schema: outputSchema.schema, strict: isStrict(outputSchema) },
    },
    ...card.extraBody,
  };
}

function finishOf(reason: string | null | undefined): FinishReason {
  if (reason === 'length') return 'length';
  return reason === 'content_filter' ? 'refusal' : 'stop';
}
