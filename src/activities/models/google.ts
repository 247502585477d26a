import type { GenerateContentParameters, GoogleGenAI, ThinkingLevel } from '@google/genai';
import { z } from 'zod';
import {
  chooseSettings,
  type Complete,
  type ListModels,
  type ModelReply,
  type ModelRequest,
  oneForEachPlace,
  type Settings,
  toConversation,
} from './model';
import { NO_CONTENT, partsSchema } from './content';
import { finishOf, StreamEnd } from './ending';
import { partSchema, readReply, tierSchema, tokensSchema, toUsage } from './reply';
import { type Assembly, readModelResponse } from './stream';
import { sendWith } from './transport';

const EFFORTS = ['minimal', 'low', 'medium', 'high'] as const;
type Effort = (typeof EFFORTS)[number];

const usageSchema = z
  .object({
    promptTokenCount: tokensSchema,
    toolUsePromptTokenCount: partSchema,
    candidatesTokenCount: tokensSchema.nullish(),
    thoughtsTokenCount: partSchema,
    cachedContentTokenCount: partSchema,
    totalTokenCount: tokensSchema.nullish().catch(null),
    serviceTier: tierSchema,
  })
  .transform((usage) => {
    const { candidatesTokenCount: written, totalTokenCount: total, thoughtsTokenCount: thoughts } = usage;
    // Gemini leaves out a count of 0, so the total tells whether it is one.
    if (written == null && total == null) return null;
    const inputTokens = usage.promptTokenCount + usage.toolUsePromptTokenCount;
    return toUsage({
      inputTokens,
      // Thoughts are billed as output and not counted among the candidates' tokens.
      outputTokens: Math.max((written ?? 0) + thoughts, (total ?? 0) - inputTokens),
      cachedInputTokens: usage.cachedContentTokenCount,
      reasoningTokens: thoughts,
      serviceTier: usage.serviceTier,
    });
  });

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

/** Loads the SDK, on first use. */
export const loadGoogle = (): Promise<unknown> => import('@google/genai');

export const completeGoogle: Complete = async (request) => {
  const settings = chooseSettings(request, { efforts: EFFORTS });
  const client = await openClient(request);
  const { MINIMAL, LOW, MEDIUM, HIGH } = (await import('@google/genai')).ThinkingLevel;
  const levels = { minimal: MINIMAL, low: LOW, medium: MEDIUM, high: HIGH };
  const body = await ask(client, request, toParameters(request, settings, levels));
  const response = readReply(responseSchema, body);
  const { text, thoughts } = response.candidates?.[0]?.content?.parts ?? NO_CONTENT;
  return {
    text,
    ...(thoughts !== '' && { thoughts }),
    ...endOf(response, settings.maxOutputTokens),
    usage: response.usageMetadata ?? null,
    reportedNanoUsd: null,
    dropped: settings.dropped,
  };
};

/** Sends a request through the SDK, but reads the answer in its `fetch`, since the SDK returns no response. */
async function ask(
  { models }: GoogleGenAI,
  request: ModelRequest,
  { config, ...parameters }: GenerateContentParameters,
): Promise<unknown> {
  const streams = request.card.idleTimeoutMs !== undefined;
  const send = sendAs(request);
  let body: unknown = null;
  const fetch: typeof send = async (url, init) => {
    body = await readModelResponse(await send(url, init), request, candidateAssembly());
    return new Response(streams ? 'data: {}\n\n' : '{}');
  };
  const { extraBody } = request.card;
  const httpOptions = { fetch, ...(extraBody && { extraBody: { ...extraBody } }) };
  const asked = { ...parameters, config: { ...config, httpOptions } };
  if (streams) await (await models.generateContentStream(asked)).next();
  else await models.generateContent(asked);
  return body;
}

const chunkSchema = responseSchema.extend({ usageMetadata: z.unknown().optional() });

/** Each event is a response with the next part of the text. The last one's usage is that of the whole. */
function candidateAssembly(): Assembly {
  let [text, thoughts] = ['', ''];
  let last: Omit<z.output<typeof chunkSchema>, 'candidates'> = { usageMetadata: null };
  const end = new StreamEnd();
  return {
    add: (event) => {
      const { candidates, promptFeedback, usageMetadata } = readReply(chunkSchema, event);
      const [candidate] = candidates ?? [];
      const added = candidate?.content?.parts ?? NO_CONTENT;
      text += added.text;
      thoughts += added.thoughts;
      end.take(candidate?.finishReason, added.text + added.thoughts);
      last = { promptFeedback: promptFeedback ?? last.promptFeedback, usageMetadata };
      return added.text;
    },
    body: () => {
      if (end.reason === '' && !last.promptFeedback?.blockReason) return null;
      const parts = [{ text: thoughts, thought: true }, { text }];
      return { candidates: [{ content: { parts }, finishReason: end.reason }], ...last };
    },
    isOver: () => false,
  };
}

export const listGoogle: ListModels = async (place) => {
  const client = await openClient(place);
  const { page } = await client.models.list({ config: { pageSize: 1000, abortSignal: place.signal } });
  return page.map(({ name = '' }) => name.replace(/^models\//, ''));
};

/** Sets the address and switches off Vertex AI, since the SDK would read both from the environment. */
const openClient = oneForEachPlace(async ({ card, apiKey }) => {
  const { GoogleGenAI } = await import('@google/genai');
  const baseUrl = card.baseUrl ?? 'https://generativelanguage.googleapis.com/';
  const httpOptions = { baseUrl, fetch: sendAs({ card, apiKey }) };
  return new GoogleGenAI({ vertexai: false, apiKey: apiKey ?? 'none', httpOptions });
});

function sendAs({ card, apiKey }: Pick<ModelRequest, 'card' | 'apiKey'>): typeof fetch {
  return sendWith({ 'X-Goog-Api-Key': apiKey }, { proxy: card.proxy });
}

function toParameters(
  { card, messages, signal }: ModelRequest,
  settings: Settings<Effort>,
  levels: Readonly<Record<Effort, ThinkingLevel>>,
): GenerateContentParameters {
  const { system, turns } = toConversation(messages);
  const { temperature, topP, topK, presencePenalty, seed, effort, thinking } = settings;
  const { outputSchema, maxOutputTokens } = settings;
  const sampling = { temperature, topP, topK, presencePenalty, seed };
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
      systemInstruction: system || undefined,
      ...sampling,
      ...(effort && { thinkingConfig: { thinkingLevel: levels[effort] } }),
      ...(thinking !== undefined && { thinkingConfig: { thinkingBudget: thinking } }),
      ...(outputSchema && {
        responseMimeType: 'application/json',
        responseJsonSchema: outputSchema.schema,
      }),
    },
  };
}

/** Gemini reports a declined question in `promptFeedback`, and a withheld answer by `finishReason`. */
function endOf(
  response: z.output<typeof responseSchema>,
  room: number,
): Pick<ModelReply, 'finish' | 'refusal'> {
  const { blockReason, blockReasonMessage } = response.promptFeedback ?? {};
  if (blockReason) return { finish: 'refusal', refusal: blockReasonMessage ?? blockReason };
  const reason = response.candidates?.[0]?.finishReason;
  const finish = finishOf(reason, { field: 'finishReason', usage: response.usageMetadata ?? null, room });
  return { finish, refusal: finish === 'refusal' ? (reason ?? null) : null };
}
