import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import {
  type BackgroundCalls,
  chooseSettings,
  isStrict,
  type Complete,
  type ListModels,
  makerOf,
  type ModelReply,
  type ModelRequest,
  oneForEachPlace,
  type Settings,
  toConversation,
} from './model';
import type { Part, Turn } from '../../protocol/parts';
import { replyContentSchema, NO_CONTENT, thoughtsSchema } from './content';
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
import { CallGatherer, partsOfKind, sentBack, toolCallsSchema, turnOf } from './tool-calls';
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
type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam;

/** Message, or what an event adds to it. Servers name the thoughts differently; some send it under both names. */
const messageSchema = z
  .object({
    content: replyContentSchema,
    refusal: z.string().nullish(),
    reasoning_content: thoughtsSchema,
    reasoning: thoughtsSchema,
    tool_calls: toolCallsSchema,
  })
  .transform(({ content, refusal, reasoning_content: named, reasoning, tool_calls: calls }) => ({
    text: content.text,
    thoughts: named || reasoning || content.thoughts,
    refusal: (refusal ?? '') || content.refusal,
    /** Thoughts under the name under which DeepSeek wants them back. */
    named,
    calls,
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
  const calls = new CallGatherer();
  for (const [index, call] of message.calls.entries()) calls.add({ ...call, index });
  const charged = usageOf(completion);
  const ended = { field: 'finish_reason', usage: charged.usage, room: settings.maxOutputTokens };
  return {
    text,
    ...(thoughts !== '' && { thoughts }),
    ...turnOf(request, partsOf(request, message, calls)),
    finish: refusal === null ? finishOf(reason, ended) : 'refusal',
    refusal,
    ...charged,
    dropped: settings.dropped,
  };
}

function partsOf(
  { card }: ModelRequest,
  { text, named }: Pick<z.output<typeof messageSchema>, 'text' | 'named'>,
  calls: CallGatherer,
): Part[] {
  const block = { [NAMED_THOUGHTS]: named };
  return [
    ...(named === '' ? [] : [{ kind: 'opaque', madeBy: makerOf(card), block } as const]),
    ...(text === '' ? [] : [{ kind: 'text', text } as const]),
    ...calls.all.map((call) => ({ kind: 'call', ...call }) as const),
  ];
}

const NAMED_THOUGHTS = 'reasoning_content';

const NO_DELTA: z.output<typeof messageSchema> = { ...NO_CONTENT, named: '', calls: [] };

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
  let [content, thoughtsSoFar, named, refusal] = ['', '', '', ''];
  const gatherer = new CallGatherer();
  const end = new StreamEnd();
  let last: { readonly usage?: unknown; readonly service_tier?: unknown } = {};
  return {
    add: (event) => {
      const { choices, usage, service_tier } = readReply(chunkSchema, event);
      const { delta, finish_reason } = choices?.[0] ?? {};
      const { text, thoughts, refusal: declined, named: ofName, calls } = delta ?? NO_DELTA;
      for (const call of calls) gatherer.add(call);
      named += ofName;
      content += text;
      thoughtsSoFar += thoughts;
      refusal += declined;
      const written = text + thoughts + (calls.length > 0 ? 'a call' : '');
      end.take(finish_reason, written);
      // A count before the last text is none of the whole.
      const counted = written === '' ? last.usage : undefined;
      last = { usage: usage ?? counted, service_tier: service_tier ?? last.service_tier };
      return text;
    },
    body: (isDone) => {
      const calls = gatherer.all;
      const hasText = content !== '' || refusal !== '' || calls.length > 0;
      if (!end.isReached({ hasEnded: isDone, hasText, usage: last.usage })) return null;
      const reasoning = { [named === '' ? 'reasoning' : NAMED_THOUGHTS]: thoughtsSoFar };
      const tool_calls = calls.map(({ id, name, input }) => ({ id, function: { name, arguments: input } }));
      const message = { content, ...reasoning, refusal, tool_calls };
      return { choices: [{ message, finish_reason: end.reason }], ...last };
    },
    isOver: () => false,
  };
}

/**
 * OpenAI's reasoning models reject `max_tokens`, also at other addresses; other servers may ignore
 * `max_completion_tokens`.
 */
function toBody(request: ModelRequest, settings: Settings<NonNullable<OpenAI.ReasoningEffort>>): Body {
  const { card, toolUse, withoutStreamOptions, withOtherLimitName } = request;
  const { system, turns } = toConversation(request);
  const { temperature, topP, topK, presencePenalty, seed, effort, outputSchema, maxOutputTokens } = settings;
  const sampling = { temperature, top_p: topP, top_k: topK, presence_penalty: presencePenalty, seed };
  return {
    model: card.model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...turns.flatMap(toMessages),
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
    ...(toolUse && {
      tools: toolUse.tools.map(({ name, description, input }) => ({
        type: 'function' as const,
        function: { name, description, parameters: input },
      })),
      ...(!toolUse.mayCall && { tool_choice: 'none' as const }),
      ...(toolUse.mustCall && { tool_choice: 'required' as const }),
    }),
    ...card.extraBody,
  };
}

/** Returns the messages of a turn: each result is one of its own. */
function toMessages(turn: Turn): ChatMessage[] {
  const { role } = turn;
  const content = partsOfKind(turn, 'text')
    .map(({ text }) => text)
    .join('\n\n');
  const calls = partsOfKind(turn, 'call');
  if (role === 'user' || calls.length === 0) {
    const results = partsOfKind(turn, 'result').map(({ id, text }): ChatMessage => ({
      role: 'tool',
      tool_call_id: id,
      content: text,
    }));
    return [...results, ...(content === '' && results.length > 0 ? [] : [{ role, content }])];
  }
  const tool_calls = calls.map((call) => ({
    id: call.id,
    type: 'function' as const,
    function: { name: call.name, arguments: JSON.stringify(sentBack(call)) },
  }));
  const opaque = Object.assign({}, ...partsOfKind(turn, 'opaque').map(({ block }) => block)) as object;
  return [{ role, content: content === '' ? null : content, ...opaque, tool_calls }];
}
