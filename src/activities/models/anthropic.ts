import type { Anthropic } from '@anthropic-ai/sdk' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import {
  chooseSettings,
  type Complete,
  type FinishReason,
  type ListModels,
  type ModelRequest,
  oneForEachPlace,
  type Settings,
  toConversation,
} from './model';
import { partSchema, readReply, tierSchema, tokensSchema, toUsage } from './reply';
import { type Assembly, readAnswer } from './stream';
import { NO_TIMEOUT_MS, sendWith } from './transport';

type Body = Anthropic.MessageCreateParams;
type Content = Anthropic.MessageParam['content'];

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
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
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
  const message = readReply(messageSchema, await readAnswer(response, request, messageAssembly()));
  const { content, stop_reason: reason, stop_details: details, usage } = message;
  return {
    text: content.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join(''),
    finish: finishOf(reason),
    refusal: details?.explanation ?? null,
    usage: usage ?? null,
    reportedNanoUsd: null,
    dropped: settings.dropped,
  };
};

const eventSchema = z.object({
  type: z.string(),
  message: z.looseObject({ usage: z.looseObject({}).nullish() }).nullish(),
  delta: z.looseObject({ type: z.string().nullish(), text: z.string().nullish() }).nullish(),
  usage: z.looseObject({}).nullish(),
});

/** Usage counts are cumulative; a missing one keeps its value. The first output count is only a placeholder. */
function messageAssembly(): Assembly {
  let text = '';
  let message: object = {};
  let begun: object = {};
  let usage: object | null = null;
  let isOver = false;
  return {
    add: (event) => {
      const { type, message: first, delta, usage: counted } = readReply(eventSchema, event);
      const piece = delta?.type === 'text_delta' ? (delta.text ?? '') : '';
      text += piece;
      if (type === 'message_delta') message = { ...message, ...delta };
      begun = first?.usage ?? begun;
      const known = Object.entries(counted ?? {}).filter(([, count]) => count !== null);
      if (counted) usage = { ...begun, ...usage, ...Object.fromEntries(known) };
      isOver ||= type === 'message_stop';
      return piece;
    },
    body: () => (isOver ? { ...message, content: [{ type: 'text', text }], usage } : null),
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

function inTwoBlocks(text: string, length: number): Content {
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

function finishOf(reason: string | null | undefined): FinishReason {
  if (reason === 'refusal') return 'refusal';
  return reason === 'max_tokens' || reason === 'model_context_window_exceeded' ? 'length' : 'stop';
}
