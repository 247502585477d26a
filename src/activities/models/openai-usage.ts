import { z } from 'zod';
import { type ModelReply } from './model';
import { partSchema, type tierSchema, tokensSchema, toUsage } from './reply';

const MAX_USD = 1e6;

/** An implausible amount counts as not reported. */
const amountUpTo = (max: number) => z.number().nonnegative().max(max).nullish().catch(null);

const detailsSchema = z
  .object({ cached_tokens: partSchema, cache_write_tokens: partSchema, reasoning_tokens: partSchema })
  .nullish();

/** Usage as the Responses API reports it; `chatUsageSchema` renames the fields of Chat Completions to these. */
const tokensOfUsage = z.object({
  input_tokens: tokensSchema,
  output_tokens: tokensSchema,
  total_tokens: tokensSchema.nullish().catch(null),
  input_tokens_details: detailsSchema,
  output_tokens_details: detailsSchema,
  /** DeepSeek's name for cached tokens (api-docs.deepseek.com/guides/kv_cache). */
  prompt_cache_hit_tokens: partSchema,
  /** Moonshot's name for them (platform.moonshot.ai/docs/api/chat). */
  cached_tokens: partSchema,
  /** USD (OpenRouter: openrouter.ai/docs/use-cases/usage-accounting). */
  cost: amountUpTo(MAX_USD),
  /** OpenRouter used the user's own vendor key, so `cost` is only its fee. */
  is_byok: z.boolean().nullish().catch(null),
  cost_details: z
    .object({ upstream_inference_cost: amountUpTo(MAX_USD) })
    .nullish()
    .catch(null),
  /** 10⁻¹⁰ USD (xAI: docs.x.ai). */
  cost_in_usd_ticks: amountUpTo(MAX_USD * 1e10),
});

type Reported = z.output<typeof tokensOfUsage>;

/** A request's tokens and charge as the server reports them, under the names of the Responses API. */
export const responsesUsageSchema = tokensOfUsage.transform((usage) => ({
  tokens: tokensIn(usage),
  // Servers that do not count report 0.
  reportedNanoUsd: Math.round((usdOf(usage) ?? 0) * 1e9) || null,
}));

/**
 * Puts the usage of a completion, or of an event of one, into its field `usage`. Groq has it under `x_groq` at the end
 * of a stream (console.groq.com/docs/api-reference), Moonshot under the choice (platform.moonshot.ai/docs/api/chat).
 */
export function withUsage(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { usage, x_groq: groq, choices } = body as Readonly<Record<string, unknown>>;
  const [choice] = Array.isArray(choices) ? (choices as readonly unknown[]) : [];
  return { ...body, usage: usage ?? usageIn(groq) ?? usageIn(choice) };
}

const usageIn = (place: unknown): unknown => (Object(place) as { readonly usage?: unknown }).usage;

export const chatUsageSchema = z.preprocess((usage) => {
  const named = Object(usage) as Readonly<Record<string, unknown>>;
  return {
    ...named,
    input_tokens: named.prompt_tokens,
    output_tokens: named.completion_tokens,
    input_tokens_details: named.prompt_tokens_details,
    output_tokens_details: named.completion_tokens_details,
  };
}, responsesUsageSchema);

/**
 * Returns the tokens as billed. Most servers count reasoning as part of the output. xAI (docs.x.ai) and Gemini's
 * OpenAI-compatible API count it separately, which shows only in the total, or if it exceeds the output.
 */
function tokensIn(usage: Reported) {
  const { input_tokens: inputTokens, output_tokens: output, total_tokens: total } = usage;
  const reasoningTokens = usage.output_tokens_details?.reasoning_tokens ?? 0;
  const beside = reasoningTokens > output ? output + reasoningTokens : 0;
  const { cached_tokens: cached = 0, cache_write_tokens: cacheWriteTokens = 0 } =
    usage.input_tokens_details ?? {};
  return {
    inputTokens,
    outputTokens: Math.max(output, (total ?? 0) - inputTokens, beside),
    cachedInputTokens: Math.max(cached, usage.prompt_cache_hit_tokens, usage.cached_tokens),
    reasoningTokens,
    cacheWriteTokens,
  };
}

function usdOf(charge: Reported): number | null {
  const { cost, is_byok: isByok, cost_details: details, cost_in_usd_ticks: ticks } = charge;
  if (cost == null) return ticks == null ? null : ticks / 1e10;
  const upstream = details?.upstream_inference_cost ?? null;
  // Without the user's own key, the upstream price is part of the cost, and never exceeds it.
  if (!(isByok ?? (upstream ?? 0) > cost)) return cost;
  // The vendor bills the user directly, and the amount is unknown.
  return upstream === null ? null : cost + upstream;
}

interface Counted {
  readonly usage?: z.output<typeof responsesUsageSchema> | null;
  readonly service_tier?: z.output<typeof tierSchema>;
}

export function usageOf(reply: Counted): Pick<ModelReply, 'usage' | 'reportedNanoUsd'> {
  const { usage, service_tier: serviceTier } = reply;
  if (!usage) return { usage: null, reportedNanoUsd: null };
  return { usage: toUsage({ ...usage.tokens, serviceTier }), reportedNanoUsd: usage.reportedNanoUsd };
}

/**
 * Service tier that every request to OpenAI's own endpoint names, since the cost limits use its price. A request
 * without one gets the tier of its project's settings (developers.openai.com/api/docs/guides/priority-processing).
 */
export const USUAL_TIER = 'default';
