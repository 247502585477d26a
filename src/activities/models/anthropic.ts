import type { Anthropic } from '@anthropic-ai/sdk' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import {
  chooseSettings,
  type Complete,
  type ListModels,
  type ModelRequest,
  oneForEachPlace,
  type Settings,
  toConversation,
} from './model';
import { joined, NO_CONTENT, partContentSchema, partsSchema } from './content';
import { finishOf, StreamEnd } from './ending';
import { partSchema, readReply, tierSchema, tokensSchema, toUsage } from './reply';
import { type Assembly, readModelResponse } from './stream';
import { NO_TIMEOUT_MS, sendWith } from './transport';

type Body = Anthropic.MessageCreateParams;
type PromptContent = Anthropic.MessageParam['content'];

const VERSION = '2026-10-21';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

const usageSchema = z
  .object({
    input_tokens: tokensSchema,
    output_tokens: tokensSchema,
    cache_read_input_tokens: partSchema,
    cache_creation_input_tokens: partSchema,
    cache_creation: z.object({ ephemeral_1h_input_tokens: partSchema }).nullish(),
    output_tokens_details: z.object({ thinking_tokens: partSchema }).nullish(),
    service_tier: tierSchema,
  })
  .transform((usage) =>
    toUsage({
      // Anthropic reports cache reads and writes separately from the input, not as part of it.
      inputTokens: usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
      outputTokens: usage.output_tokens,
      cachedInputTokens: usage.cache_read_input_tokens,
      reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? 0,
      cacheWriteTokens: usage.cache_creation_input_tokens,
      hourCacheWriteTokens: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
      serviceTier: usage.service_tier,
    }),
  );

const messageSchema = z.object({
  content: partsSchema,
  stop_reason: z.string().nullish(),
  stop_details: z.object({ explanation: z.string().nullish() }).nullish().catch(null),
  usage: usageSchema.nullish().catch(null),
});

/** Loads the SDK, on first use. */
export const loadAnthropic = (): Promise<unknown> => import('@anthropic-ai/sdk');

export const completeAnthropic: Complete = async (request) => {
  const settings = chooseSettings(request, { lacks: ['seed', 'presencePenalty'], efforts: EFFORTS });
  const client = await openClient(request);
  const { signal } = request;
  const response = await client.messages.create(toBody(request, settings), { signal }).asResponse();
  const message = readReply(messageSchema, await readModelResponse(response, request, messageAssembly()));
  const { content, stop_reason: reason, stop_details: details, usage = null } = message;
  const { text, thoughts } = content;
  return {
    text,
    ...(thoughts !== '' && { thoughts }),
    finish: finishOf(reason, { field: 'stop_reason', usage, room: settings.maxOutputTokens }),
    refusal: details?.explanation ?? null,
    usage,
    reportedNanoUsd: null,
    dropped: settings.dropped,
  };
};

const eventSchema = z.object({
  type: z.string(),
  message: z.looseObject({ usage: z.looseObject({}).nullish() }).nullish(),
  content_block: partContentSchema,
  delta: z.unknown().optional(),
  usage: z.looseObject({}).nullish(),
});

const endSchema = z.looseObject({ stop_reason: z.string().nullish() }).nullish();

/**
 * Usage counts are cumulative; a missing one keeps its value. The first output count is only a placeholder. The stop
 * reason ends the answer: not every server that speaks this API sends `message_stop`.
 */
function messageAssembly(): Assembly {
  let [text, thinking] = ['', ''];
  let message: object = {};
  const end = new StreamEnd();
  let begun: object = {};
  let usage: object | null = null;
  let isOver = false;
  return {
    add: (event) => {
      const read = readReply(eventSchema, event);
      const { type, message: first, content_block: block, delta, usage: counted } = read;
      const isEnd = type === 'message_delta';
      const added = joined([block, isEnd ? NO_CONTENT : readReply(partContentSchema, delta)]);
      text += added.text;
      thinking += added.thoughts;
      const ended = isEnd ? readReply(endSchema, delta) : null;
      message = { ...message, ...ended };
      end.take(ended?.stop_reason, added.text + added.thoughts);
      begun = { ...(first?.usage ?? begun), output_tokens: null };
      const known = Object.entries(counted ?? {}).filter(([, count]) => count !== null);
      if (counted) usage = { ...begun, ...usage, ...Object.fromEntries(known) };
      isOver ||= type === 'message_stop';
      return added.text;
    },
    body: () => {
      const content = [
        { type: 'thinking', thinking },
        { type: 'text', text },
      ];
      const isReached = end.isReached({ hasEnded: isOver, hasText: text !== '', usage });
      return isReached ? { ...message, content, usage } : null;
    },
    isOver: () => isOver,
  };
}

const openClient = oneForEachPlace(async ({ card, apiKey }) => {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({
    baseURL: card.baseUrl,
    apiKey: apiKey ?? 'none',
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    fetch: sendWith(
      { Authorization: apiKey === null ? null : `Bearer ${apiKey}`, 'Anthropic-Version': VERSION },
      { proxy: card.proxy },
    ),
    logLevel: 'off',
    openTelemetry: false,
  });
});

export const listAnthropic: ListModels = async (place) => {
  const { data } = await (await openClient(place)).models.list({ limit: 1000 }, { signal: place.signal });
  return data.map(({ id }) => id);
};

/** Smallest prefix that any model caches, in tokens; used for characters, since a token has at least one. */
const LEAST_KEPT = 1024;

/**
 * Converts the turns. If caching the shared prefix pays, splits the turn in which it ends into two blocks. A cache
 * write costs a quarter more than other input: it pays if its price is known and one read saves more than that.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
function toMessages({ card, messages, sharedCharacters = 0 }: ModelRequest): Anthropic.MessageParam[] {
  let left = sharedCharacters < LEAST_KEPT || !paysOff(card) ? 0 : sharedCharacters;
  return toConversation(messages).turns.map(({ role, text }) => {
    const content = left > 0 && left <= text.length ? inTwoBlocks(text, left) : text;
    left -= text.length;
    return { role, content };
  });
}

function inTwoBlocks(text: string, length: number): PromptContent {
  const [shared, own] = [text.slice(0, length), text.slice(length)];
  return [
    { type: 'text', text: shared, cache_control: { type: 'ephemeral' } },
    ...(own === '' ? [] : [{ type: 'text' as const, text: own }]),
  ];
}

function paysOff({ price }: ModelRequest['card']): boolean {
  const { input = 0, cachedInput = input, cacheWrite } = price ?? {};
  return cacheWrite !== undefined && input - cachedInput > cacheWrite - input;
}

function toBody(request: ModelRequest, settings: Settings<(typeof EFFORTS)[number]>): Body {
  const { card, messages } = request;
  const { system } = toConversation(messages);
  const { temperature, topP, topK, effort, thinking, outputSchema, maxOutputTokens } = settings;
  const sampling = { temperature, top_p: topP, top_k: topK };
  const format = outputSchema && { type: 'json_schema' as const, schema: outputSchema.schema };
  return {
    model: card.model,
    max_tokens: maxOutputTokens,
    ...(card.idleTimeoutMs !== undefined && { stream: true }),
    system: system || undefined,
    messages: toMessages(request),
    ...sampling,
    thinking: thinking === undefined ? undefined : thinkingOf(thinking),
    output_config: effort || format ? { effort, format } : undefined,
    ...card.extraBody,
  };
}

function thinkingOf(budget: number): Anthropic.ThinkingConfigParam {
  return budget === 0 ? { type: 'disabled' } : { type: 'enabled', budget_tokens: budget };
}
