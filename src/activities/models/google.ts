import type {
  FunctionCallingConfigMode,
  GenerateContentParameters,
  GoogleGenAI,
  Part as GooglePart,
  ThinkingLevel,
} from '@google/genai';
import { z } from 'zod';
import {
  chooseSettings,
  type Complete,
  type ListModels,
  makerOf,
  type ModelReply,
  type ModelRequest,
  oneForEachPlace,
  type Settings,
  toConversation,
} from './model';
import { isMadeId, type Part, type Turn } from '../../protocol/parts';
import { NO_CONTENT, partsSchema } from './content';
import { finishOf, StreamEnd } from './ending';
import { partSchema, readReply, tierSchema, tokensSchema, toUsage } from './reply';
import { type Assembly, readModelResponse } from './stream';
import { CallGatherer, plainText, sentBack, turnOf } from './tool-calls';
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

/** Part of a reply as its model may want it back. */
const sentPartSchema = z
  .looseObject({
    text: z.string().nullish(),
    thought: z.boolean().nullish(),
    thoughtSignature: z.string().nullish(),
    functionCall: z
      .object({
        id: z.string().nullish().catch(null),
        name: z.string().nullish().catch(null),
        args: z.unknown().optional(),
      })
      .nullish()
      .catch(null),
  })
  .nullable()
  .catch(null);
type SentPart = NonNullable<z.output<typeof sentPartSchema>>;

/** Parts of a reply's first candidate, or of an event of it. */
const sentSchema = z
  .object({ candidates: z.array(z.object({ content: z.object({ parts: z.array(sentPartSchema) }) })) })
  .transform(({ candidates }) => candidates[0]?.content.parts ?? [])
  .catch([]);

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
  const { ThinkingLevel, FunctionCallingConfigMode } = await import('@google/genai');
  const { MINIMAL, LOW, MEDIUM, HIGH } = ThinkingLevel;
  const levels = { minimal: MINIMAL, low: LOW, medium: MEDIUM, high: HIGH };
  const parameters = toParameters(request, settings, levels, FunctionCallingConfigMode);
  const body = await ask(client, request, parameters);
  const response = readReply(responseSchema, body);
  const { text, thoughts } = response.candidates?.[0]?.content?.parts ?? NO_CONTENT;
  return {
    text,
    ...(thoughts !== '' && { thoughts }),
    ...turnOf(request, partsOf(request, sentSchema.parse(body))),
    ...endOf(response, settings.maxOutputTokens),
    usage: response.usageMetadata ?? null,
    reportedNanoUsd: null,
    dropped: settings.dropped,
  };
};

/** Returns a reply's parts in their order. A signature stands before the part that it signs. */
function partsOf({ card }: ModelRequest, sent: readonly (SentPart | null)[]): Part[] {
  return sent.flatMap((part): Part[] => {
    if (part === null || part.thought === true) return [];
    const { text = '', thoughtSignature, functionCall: call } = part;
    const block = { thoughtSignature };
    const signed: Part[] = thoughtSignature ? [{ kind: 'opaque', madeBy: makerOf(card), block }] : [];
    if (!call) {
      const isEmpty = (text ?? '') === '' && signed.length === 0;
      return isEmpty ? [] : [...signed, { kind: 'text', text: text ?? '' }];
    }
    const gatherer = new CallGatherer();
    gatherer.add({ id: call.id, name: call.name, input: call.args });
    return [...signed, ...gatherer.all.map((each) => ({ kind: 'call', ...each }) as const)];
  });
}

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
  const parts: SentPart[] = [];
  let last: Omit<z.output<typeof chunkSchema>, 'candidates'> = { usageMetadata: null };
  const end = new StreamEnd();
  return {
    add: (event) => {
      const { candidates, promptFeedback, usageMetadata } = readReply(chunkSchema, event);
      const [candidate] = candidates ?? [];
      const added = candidate?.content?.parts ?? NO_CONTENT;
      gather(parts, sentSchema.parse(event), added);
      end.take(candidate?.finishReason, added.text + added.thoughts);
      last = { promptFeedback: promptFeedback ?? last.promptFeedback, usageMetadata };
      return added.text;
    },
    body: () => {
      if (end.reason === '' && !last.promptFeedback?.blockReason) return null;
      return { candidates: [{ content: { parts }, finishReason: end.reason }], ...last };
    },
    isOver: () => false,
  };
}

/** Adds the parts of an event to those before. A text or thought without a signature goes on where the last one ended. */
function gather(
  parts: SentPart[],
  sent: readonly (SentPart | null)[],
  added: { readonly text: string; readonly thoughts: string },
): void {
  const goOn = (text: string, thought: boolean, thoughtSignature?: string | null): void => {
    const last = parts.at(-1);
    const isSame =
      last !== undefined &&
      !last.functionCall &&
      !last.thoughtSignature &&
      !thoughtSignature &&
      (last.thought === true) === thought;
    if (isSame) parts[parts.length - 1] = { ...last, text: (last.text ?? '') + text };
    else parts.push({ text, ...(thought && { thought }), ...(thoughtSignature && { thoughtSignature }) });
  };
  const isPlain = sent.every((part) => !part?.functionCall && !part?.thoughtSignature);
  if (isPlain) {
    if (added.thoughts !== '') goOn(added.thoughts, true);
    if (added.text !== '') goOn(added.text, false);
    return;
  }
  for (const part of sent) {
    if (part?.functionCall) parts.push(part);
    else if (part !== null) goOn(part.text ?? '', part.thought === true, part.thoughtSignature);
  }
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
  request: ModelRequest,
  settings: Settings<Effort>,
  levels: Readonly<Record<Effort, ThinkingLevel>>,
  modes: typeof FunctionCallingConfigMode,
): GenerateContentParameters {
  const { card, toolUse, signal } = request;
  const { system, turns } = toConversation(request);
  const { temperature, topP, topK, presencePenalty, seed, effort, thinking } = settings;
  const { outputSchema, maxOutputTokens } = settings;
  const sampling = { temperature, topP, topK, presencePenalty, seed };
  return {
    model: card.model,
    contents: turns.map((turn) => ({
      role: turn.role === 'assistant' ? 'model' : 'user',
      parts: toParts(turn),
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
      ...(toolUse && {
        tools: [
          {
            functionDeclarations: toolUse.tools.map(({ name, description, input }) => ({
              name,
              description,
              parametersJsonSchema: input,
            })),
          },
        ],
        ...(!toolUse.mayCall && { toolConfig: { functionCallingConfig: { mode: modes.NONE } } }),
        ...(toolUse.mustCall && { toolConfig: { functionCallingConfig: { mode: modes.ANY } } }),
      }),
      ...(outputSchema && {
        responseMimeType: 'application/json',
        responseJsonSchema: outputSchema.schema,
      }),
    },
  };
}

/** An id that we made is not sent: Gemini pairs calls and results by their order and name. */
function toParts(turn: Turn): GooglePart[] {
  const text = plainText(turn);
  if (text !== null) return [{ text }];
  let signature: object = {};
  return turn.parts.flatMap((part): GooglePart[] => {
    if (part.kind === 'opaque') {
      signature = part.block;
      return [];
    }
    const sent = { ...toPart(part), ...signature };
    signature = {};
    return [sent];
  });
}

function toPart(part: Exclude<Part, { readonly kind: 'opaque' }>): GooglePart {
  if (part.kind === 'text') return { text: part.text };
  const { id, name } = part;
  const named = { ...(!isMadeId(id) && { id }), name };
  if (part.kind === 'call') return { functionCall: { ...named, args: sentBack(part) } };
  const response = { [part.isError === true ? 'error' : 'output']: part.text };
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- the SDK takes plain objects, too
  return { functionResponse: { ...named, response } };
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
