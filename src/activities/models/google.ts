import type { GenerateContentParameters, GoogleGenAI, ThinkingLevel } from '@google/genai';
import { z } from 'zod';
import {
  chooseSettings,
  type Complete,
  type ListModels,
  type ModelPlace,
  type ModelReply,
  type ModelRequest,
  type Settings,
  toConversation,
} from './model';
import { partSchema, readReply, tierSchema, tokensSchema, toUsage } from './reply';
import { sendWith } from './transport';

const EFFORTS = ['minimal', 'low', 'medium', 'high'] as const;
type Effort = (typeof EFFORTS)[number];

const usageSchema = z
  .object({
    promptTokenCount: tokensSchema,
    candidatesTokenCount: partSchema,
    thoughtsTokenCount: partSchema,
    cachedContentTokenCount: partSchema,
    serviceTier: tierSchema,
  })
  .transform((usage) =>
    toUsage({
      inputTokens: usage.promptTokenCount,
      // Thoughts are billed as output and not counted among the candidates' tokens.
      outputTokens: usage.candidatesTokenCount + usage.thoughtsTokenCount,
      cachedInputTokens: usage.cachedContentTokenCount,
      reasoningTokens: usage.thoughtsTokenCount,
      serviceTier: usage.serviceTier,
    }),
  );

const partsSchema = z
  .array(z.object({ text: z.string().optional(), thought: z.boolean().optional() }))
  .transform((parts) => parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''));

const candidateSchema = z.object({
  content: z.object({ parts: partsSchema.nullish() }).nullish(),
  finishReason: z.string().nullish(),
});

const responseSchema = z.object({
  candidates: z.array(candidateSchema).nullish(),
  promptFeedback: z
    .object({ blockReason: z.string().nullish(), blockReasonMessage: z.string().nullish() })
    .nullish(),
  usageMetadata: usageSchema.nullish().catch(null),
});

/** Stops that withhold an answer. */
const REFUSALS = new Set(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'RECITATION', 'LANGUAGE']);

/** `CONTINUATION` is Gemini's limit per request, which may lie below the one asked for. */
const LENGTH_STOPS = new Set(['MAX_TOKENS', 'CONTINUATION']);

export const completeGoogle: Complete = async (request) => {
  const settings = chooseSettings(request, { seed: true, efforts: EFFORTS });
  const client = await openClient(request);
  const { MINIMAL, LOW, MEDIUM, HIGH } = (await import('@google/genai')).ThinkingLevel;
  const levels = { minimal: MINIMAL, low: LOW, medium: MEDIUM, high: HIGH };
  const body = await client.models.generateContent(toParameters(request, settings, levels));
  const response = readReply(responseSchema, body);
  return {
    text: response.candidates?.[0]?.content?.parts ?? '',
    ...endOf(response),
    usage: response.usageMetadata ?? null,
    reportedNanoUsd: null,
    dropped: settings.dropped,
  };
};

export const listGoogle: ListModels = async ({ signal, ...place }) => {
  const client = await openClient(place);
  const { page } = await client.models.list({ config: { pageSize: 1000, abortSignal: signal } });
  return page.map(({ name = '' }) => name.replace(/^models\//, ''));
};

const clients = new Map<string, GoogleGenAI>();

/**
 * One client for each endpoint and key: its constructor may print a warning, which should come once. Clients hold no socket.
 *
 * What the SDK would read from the environment though no card says it, another address or Vertex AI, is switched off.
 */
async function openClient({ card, apiKey }: Omit<ModelPlace, 'signal'>): Promise<GoogleGenAI> {
  const { GoogleGenAI } = await import('@google/genai');
  const baseUrl = card.baseUrl ?? 'https://generativelanguage.googleapis.com/';
  const httpOptions = { baseUrl, fetch: sendWith({ 'X-Goog-Api-Key': apiKey }) };
  const id = JSON.stringify([baseUrl, apiKey]);
  const client =
    clients.get(id) ?? new GoogleGenAI({ vertexai: false, apiKey: apiKey ?? 'none', httpOptions });
  clients.set(id, client);
  return client;
}

function toParameters(
  { card, messages, signal }: ModelRequest,
  { temperature, seed, effort, outputSchema, maxOutputTokens }: Settings<Effort>,
  levels: Readonly<Record<Effort, ThinkingLevel>>,
): GenerateContentParameters {
  const { system, turns } = toConversation(messages);
  return {
    model: card.model,
    contents: turns.map(({ role, text }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: [{ text }],
    })),
    config: {
      abortSignal: signal,
      // Keeps the SDK from sending requests of its own when one ends with CONTINUATION.
      automaticContinuation: false,
      maxOutputTokens,
      ...(system !== '' && { systemInstruction: system }),
      ...(temperature !== null && { temperature }),
      ...(seed !== null && { seed }),
      ...(effort !== null && { thinkingConfig: { thinkingLevel: levels[effort] } }),
      ...(outputSchema !== null && {
        responseMimeType: 'application/json',
        responseJsonSchema: outputSchema.schema,
      }),
    },
  };
}

/**
 * Gemini says in one place that it declined a question and in another that it withholds an answer. Its SDK leaves out
 * the words that may come with the latter, so the category stands for them.
 */
function endOf(response: z.output<typeof responseSchema>): Pick<ModelReply, 'finish' | 'refusal'> {
  const { blockReason, blockReasonMessage } = response.promptFeedback ?? {};
  if (blockReason) return { finish: 'refusal', refusal: blockReasonMessage ?? blockReason };
  const reason = response.candidates?.[0]?.finishReason ?? '';
  if (REFUSALS.has(reason)) return { finish: 'refusal', refusal: reason };
  return { finish: LENGTH_STOPS.has(reason) ? 'length' : 'stop', refusal: null };
}
