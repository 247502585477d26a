import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import { readHttpError } from './http-error';
import {
  type FinishReason,
  type ModelReply,
  type ModelRequest,
  type Progress,
  toConversation,
} from './model';
import {
  nanoUsdSchema,
  partSchema,
  readReply,
  tierSchema,
  tokensSchema,
  toUsage,
  UnreadableReply,
  USUAL_TIER,
} from './reply';
import type { Settings } from './settings';

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;
/** What a request to the Responses API may ask for. */
export type ResponseSettings = Settings<NonNullable<OpenAI.ReasoningEffort>>;

/** One item of the output; only messages have text of ours, the rest is reasoning and tools. */
const itemSchema = z.object({
  type: z.string(),
  content: z
    .array(z.object({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() }))
    .nullish(),
});

const usageSchema = z
  .object({
    input_tokens: tokensSchema,
    output_tokens: tokensSchema,
    input_tokens_details: z.object({ cached_tokens: partSchema, cache_write_tokens: partSchema }).nullish(),
    output_tokens_details: z.object({ reasoning_tokens: partSchema }).nullish(),
    cost: nanoUsdSchema,
  })
  .transform((usage) => ({
    tokens: {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cachedInputTokens: usage.input_tokens_details?.cached_tokens ?? 0,
      reasoningTokens: usage.output_tokens_details?.reasoning_tokens ?? 0,
      cacheWriteTokens: usage.input_tokens_details?.cache_write_tokens ?? 0,
      hourCacheWriteTokens: 0,
    },
    nanoUsd: usage.cost ?? null,
  }));

/** The parts of a response that matter here; what is left of it when it is over. */
const responseSchema = z.object({
  output: z.array(itemSchema),
  error: z.object({ message: z.string() }).nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  service_tier: tierSchema,
  usage: usageSchema.nullish().catch(null),
});

/** One request to the Responses API. Nothing is left with the vendor (`store: false`): the run keeps its own texts. */
export async function completeResponse(
  client: OpenAI,
  request: ModelRequest,
  settings: ResponseSettings,
): Promise<ModelReply> {
  // Read here and not by the SDK, which trips over a body that is no response before we could say so.
  const response = await client.responses
    .create({ ...bodyOf(request, settings), store: false }, { signal: request.signal })
    .asResponse();
  const read = readReply(responseSchema, await response.json());
  if (read.error) throw new UnreadableReply(`an error in place of a reply: ${read.error.message}`);
  return replyOf(read, settings);
}

/** A response in no vendor's dialect. */
function replyOf(response: z.output<typeof responseSchema>, settings: ResponseSettings): ModelReply {
  const { output, incomplete_details: incomplete, usage, service_tier: serviceTier } = response;
  const { text, refusal } = wordsIn(output);
  return {
    text,
    finish: refusal === null ? finishOf(incomplete?.reason) : 'refusal',
    refusal,
    usage: usage ? toUsage({ ...usage.tokens, serviceTier }) : null,
    reportedNanoUsd: usage?.nanoUsd ?? null,
    dropped: settings.dropped,
  };
}

function wordsIn(output: readonly z.output<typeof itemSchema>[]): Pick<ModelReply, 'text' | 'refusal'> {
  const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content ?? []);
  return {
    text: parts.map(({ type, text }) => (type === 'output_text' ? (text ?? '') : '')).join(''),
    refusal: parts.find(({ type }) => type === 'refusal')?.refusal ?? null,
  };
}

/** What is asked; whether the vendor keeps the answer is for the caller to say. */
function bodyOf({ card, messages }: ModelRequest, settings: ResponseSettings): Body {
  const { system, turns } = toConversation(messages);
  const { temperature, effort, outputSchema, maxOutputTokens } = settings;
  return {
    model: card.model,
    ...(system !== '' && { instructions: system }),
    input: turns.map(({ role, text }) => ({ role, content: text })),
    max_output_tokens: maxOutputTokens,
    ...(card.baseUrl === null && { service_tier: USUAL_TIER }),
    ...(temperature !== null && { temperature }),
    ...(effort !== null && { reasoning: { effort } }),
    ...(outputSchema !== null && {
      text: {
        format: { type: 'json_schema', name: outputSchema.name, schema: outputSchema.schema, strict: true },
      },
    }),
  };
}

function finishOf(reason: string | null | undefined): FinishReason {
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'refusal' : 'stop';
}

/**
 * OpenAI's background mode (developers.openai.com/api/docs/guides/background): the first request brings an id at once,
 * and the answer is asked for by that id until its status is a final one.
 *
 * It is asked for with `store: true`, whatever the vendor's default: background answers were refused without it, and
 * today those without it are gone after some ten minutes, which a worker that was lost may need longer than.
 */
const backgroundSchema = responseSchema.extend({
  id: z.string().min(1),
  /** Servers that know no background answer at once, some of them without a status. */
  status: z.string().nullish(),
  output: responseSchema.shape.output.nullish().transform((output) => output ?? []),
  error: z.object({ message: z.string(), code: z.string().nullish() }).nullish(),
});

const UNFINISHED = new Set<unknown>(['queued', 'in_progress']);

/** Starts a response. The id is all it takes to come back to it. */
export async function beginResponse(
  client: OpenAI,
  request: ModelRequest,
  settings: ResponseSettings,
): Promise<{ id: string; progress: Progress }> {
  const body = { ...bodyOf(request, settings), background: true, store: true };
  const response = await client.responses.create(body, { signal: request.signal }).asResponse();
  const read = readReply(backgroundSchema, await response.json());
  return { id: read.id, progress: progressOf(read, settings) };
}

/** Asks how far a response is. */
export async function lookAtResponse(
  client: OpenAI,
  { signal }: ModelRequest,
  settings: ResponseSettings,
  id: string,
): Promise<Progress> {
  try {
    const response = await client.responses.retrieve(id, {}, { signal }).asResponse();
    return progressOf(readReply(backgroundSchema, await response.json()), settings);
  } catch (error) {
    if (readHttpError(error)?.status === 404) return { status: 'lost' };
    throw error;
  }
}

/** Has a response given up; by the guide, cancelling what is over changes nothing and returns it as it ended. */
export async function cancelResponse(
  client: OpenAI,
  { signal }: ModelRequest,
  settings: ResponseSettings,
  id: string,
): Promise<Progress> {
  const response = await client.responses.cancel(id, { signal }).asResponse();
  return progressOf(readReply(backgroundSchema, await response.json()), settings);
}

function progressOf(response: z.output<typeof backgroundSchema>, settings: ResponseSettings): Progress {
  const { status, error } = response;
  if (UNFINISHED.has(status)) return { status: 'running' };
  const reply = replyOf(response, settings);
  if (status === 'cancelled') return { status, reply };
  if (status !== 'failed' && !error) return { status: 'answered', reply };
  return { status: 'failed', reply, code: error?.code ?? '', reason: error?.message ?? '' };
}
