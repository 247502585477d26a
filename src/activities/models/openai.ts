import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import {
  type BackgroundCalls,
  chooseSettings,
  isStrict,
  type Complete,
  type ListModels,
  type ModelReply,
  type ModelRequest,
  oneForEachPlace,
  type Settings,
  toConversation,
} from './model';
import { type Content, replyContentSchema, NO_CONTENT, thoughtsSchema } from './content';
import { finishOf, StreamEnd } from './ending';
import { readReply, tierSchema } from './reply';
import {
  beginResponse,
  cancelResponse,
  completeResponse,
  OPENAI_EFFORTS,
  lookAtResponse,
  optionsFor,
  REQUEST_ID,
} from './openai-responses';
import { chatUsageSchema, usageOf, USUAL_TIER, withUsage } from './openai-usage';
import { type Assembly, readModelResponse } from './stream';
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

/** Message, or what an event adds to it. Servers name the thoughts differently; some send it under both names. */
const messageSchema = z
  .object({
    content: replyContentSchema,
    refusal: z.string().nullish(),
    reasoning_content: thoughtsSchema,
    reasoning: thoughtsSchema,
  })
  .transform(({ content, refusal, reasoning_content: named, reasoning }): Content => ({
    text: content.text,
    thoughts: named || reasoning || content.thoughts,
    refusal: (refusal ?? '') || content.refusal,
  }));

const choiceSchema = z.object({ message: messageSchema, finish_reason: z.string().nullish() });

const completionSchema = z.preprocess(
  withUsage,
  z.object({
    choices: z.tuple([choiceSchema], z.unknown()),
    service_tier: tierSchema,
    usage: chatUsageSchema.nullish().catch(null),
  }),
);

async function completeChat(client: OpenAI, request: ModelRequest): Promise<ModelReply> {
  const settings = chooseSettings(request, {
    // Other servers of this protocol support it.
    lacks: request.card.baseUrl === null ? ['topK'] : [],
    efforts: OPENAI_EFFORTS,
  });
  const response = await client.chat.completions
    .create(toBody(request, settings), optionsFor(request))
    .asResponse();
  const completion = readReply(completionSchema, await readModelResponse(response, request, chatAssembly()));
  const { message, finish_reason: reason } = completion.choices[0];
  const { text, thoughts } = message;
  const refusal = message.refusal || null;
  const charged = usageOf(completion);
  const ended = { field: 'finish_reason', usage: charged.usage, room: settings.maxOutputTokens };
  return {
    text,
    ...(thoughts !== '' && { thoughts }),
    finish: refusal === null ? finishOf(reason, ended) : 'refusal',
    refusal,
    ...charged,
    dropped: settings.dropped,
  };
}

const chunkSchema = z.preprocess(
  withUsage,
  z.object({
    choices: z
      .array(z.object({ delta: messageSchema.nullish(), finish_reason: z.string().nullish() }))
      .nullish(),
    usage: z.unknown().optional(),
    service_tier: z.unknown().optional(),
  }),
);

/**
 * Usage is cumulative if it arrives more than once (SGLang, Gemini), so the last one counts. Without a finish reason,
 * `[DONE]` ends an answer whose usage has come: servers count it last.
 */
function chatAssembly(): Assembly {
  let [content, reasoning_content, refusal] = ['', '', ''];
  const end = new StreamEnd();
  let last: { readonly usage?: unknown; readonly service_tier?: unknown } = {};
  return {
    add: (event) => {
      const { choices, usage, service_tier } = readReply(chunkSchema, event);
      const { delta, finish_reason } = choices?.[0] ?? {};
      const { text, thoughts, refusal: declined } = delta ?? NO_CONTENT;
      content += text;
      reasoning_content += thoughts;
      refusal += declined;
      end.take(finish_reason, text + thoughts);
      // A count before the last text is none of the whole.
      const counted = text + thoughts === '' ? last.usage : undefined;
      last = { usage: usage ?? counted, service_tier: service_tier ?? last.service_tier };
      return text;
    },
    body: (isDone) => {
      const hasText = content !== '' || refusal !== '';
      if (!end.isReached({ hasEnded: isDone, hasText, usage: last.usage })) return null;
      const message = { content, reasoning_content, refusal };
      return { choices: [{ message, finish_reason: end.reason }], ...last };
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
