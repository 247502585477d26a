import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import { type FinishReason, type ModelReply, type ModelRequest, toConversation } from './model';
import { chargeFields, reportedCharge } from './charge';
import {
  partSchema,
  readReply,
  tierSchema,
  tokensSchema,
  totalSchema,
  toUsage,
  UnreadableReply,
  USUAL_TIER,
  wholeOutput,
} from './reply';
import type { Settings } from './api-settings';

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
type ChatSettings = Settings<NonNullable<OpenAI.ReasoningEffort>>;

const usageSchema = z
  .object({
    prompt_tokens: tokensSchema,
    completion_tokens: tokensSchema,
    total_tokens: totalSchema,
    prompt_tokens_details: z.object({ cached_tokens: partSchema, cache_write_tokens: partSchema }).nullish(),
    /** DeepSeek's name of cached tokens (api-docs.deepseek.com/guides/kv_cache). */
    prompt_cache_hit_tokens: partSchema,
    completion_tokens_details: z.object({ reasoning_tokens: partSchema }).nullish(),
    ...chargeFields,
  })
  .transform(
    ({ prompt_tokens: inputTokens, completion_tokens: completion, total_tokens: total, ...usage }) => {
      const { prompt_tokens_details: input, completion_tokens_details: output } = usage;
      const reasoningTokens = output?.reasoning_tokens ?? 0;
      const tokens = {
        inputTokens,
        outputTokens: wholeOutput(inputTokens, completion, { total, reasoning: reasoningTokens }),
        cachedInputTokens: Math.max(input?.cached_tokens ?? 0, usage.prompt_cache_hit_tokens),
        reasoningTokens,
        cacheWriteTokens: input?.cache_write_tokens ?? 0,
      };
      return { tokens, nanoUsd: reportedCharge(usage) };
    },
  );

const choiceSchema = z.object({
  message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
  finish_reason: z.string().nullish(),
});

const completionSchema = z.object({
  choices: z.tuple([choiceSchema], z.unknown()),
  service_tier: tierSchema,
  usage: usageSchema.nullish().catch(null),
});

/** How OpenRouter fails once it has started to answer: a 200 that holds an error. */
const failedSchema = z.object({ error: z.object({ message: z.string() }) });

/** One request to Chat Completions, the API that OpenAI-compatible servers have in common. */
export async function completeChat(
  client: OpenAI,
  request: ModelRequest,
  settings: ChatSettings,
): Promise<ModelReply> {
  const body = await client.chat.completions.create(toBody(request, settings), { signal: request.signal });
  throwIfFailed(body);
  const { choices, usage, service_tier: serviceTier } = readReply(completionSchema, body);
  const { message, finish_reason: reason } = choices[0];
  const refusal = message.refusal ?? null;
  return {
    text: message.content ?? '',
    finish: refusal === null ? finishOf(reason) : 'refusal',
    refusal,
    usage: usage ? toUsage({ ...usage.tokens, serviceTier }) : null,
    reportedNanoUsd: usage?.nanoUsd ?? null,
    dropped: settings.dropped,
  };
}

function throwIfFailed(body: unknown): void {
  // Asked first: zod takes its time to say what is not there.
  const failed = 'error' in Object(body) ? failedSchema.safeParse(body) : null;
  if (failed?.success)
    throw new UnreadableReply(`an error in place of a reply: ${failed.data.error.message}`);
}

/**
 * OpenAI's own endpoint wants `max_completion_tokens` (its reasoning models reject the older name), other servers know
 * `max_tokens` and may ignore the newer one, so a card with a `baseUrl` is sent that.
 */
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
