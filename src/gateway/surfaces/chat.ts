import { createRoute, z } from '@hono/zod-openapi';
import type { CallerCall } from '../../client';
import { freeTextIn } from '../../protocol/parts';
import {
  extensionSchema,
  IGNORE_HEADER,
  IgnoredFields,
  MOST_ITEMS,
  REQUEST_EFFORTS,
} from '../solve/request-fields';
import { messageSchema, placed, utterancesIn } from '../solve/request-turns';
import { readQuestion, type SurfaceQuestion } from '../solve/surface-question';
import { type EventFrame, frameOf } from '../event-stream';
import type { App, Gateway } from '../gateway';
import { toOpenAiError } from '../refusal';
import { bodyOf, jsonOrEventsOf, refusals } from '../routes';
import { costOf, solveNoteSchema, type SpentAmounts } from '../solve/facts';
import { answer, type AnswerEnd, type Pieces } from '../solve/answer';

/** Supported fields of a chat completion request (https://platform.openai.com/docs/api-reference/chat/create). */
const chatRequestSchema = z
  .looseObject({
    model: z.string(),
    messages: z.array(messageSchema).min(1).max(MOST_ITEMS),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    max_tokens: z.int().nullish(),
    max_completion_tokens: z.int().nullish(),
    n: z.int().nullish(),
    seed: z.int().nullish(),
    user: z.string().nullish(),
    response_format: z.looseObject({ type: z.string() }).nullish(),
    reasoning_effort: z.enum(REQUEST_EFFORTS).nullish(),
    conductor: extensionSchema.nullish(),
  })
  .openapi('ChatCompletionRequest');
type ChatRequest = z.infer<typeof chatRequestSchema>;

/** @throws Refusal for an unsupported request */
function askedOfChat(body: ChatRequest, ignored?: string): SurfaceQuestion {
  const allowance = new IgnoredFields(ignored);
  return readQuestion(body, {
    said: utterancesIn(placed(body.messages, 'messages'), allowance),
    taken: chatRequestSchema.shape,
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
    allowance,
  });
}

const nullable = z.string().nullable();

const completionUsageSchema = z
  .object({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    prompt_tokens_details: z.object({ cached_tokens: z.int(), orchestration_tokens: z.int() }),
    completion_tokens_details: z.object({ reasoning_tokens: z.int(), orchestration_tokens: z.int() }),
    cost: z.number(),
    cost_details: z.object({ is_lower_bound: z.boolean() }),
  })
  .openapi('CompletionUsage');
type CompletionUsage = z.infer<typeof completionUsageSchema>;

const toolCallSchema = z.discriminatedUnion('type', [
  z.object({
    id: z.string(),
    type: z.literal('function'),
    function: z.object({ name: z.string(), arguments: z.string() }),
  }),
  z.object({
    id: z.string(),
    type: z.literal('custom'),
    custom: z.object({ name: z.string(), input: z.string() }),
  }),
]);
type ToolCall = z.infer<typeof toolCallSchema>;

const chatCompletionSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: nullable,
          refusal: nullable,
          tool_calls: z.array(toolCallSchema).optional(),
        }),
        finish_reason: z.enum(['stop', 'length', 'tool_calls']),
        logprobs: z.null(),
      }),
    ),
    usage: completionUsageSchema,
    conductor: solveNoteSchema,
  })
  .openapi('ChatCompletion');
type ChatCompletion = z.infer<typeof chatCompletionSchema>;

const route = createRoute({
  method: 'post',
  path: '/v1/chat/completions',
  summary: "Answer a conversation in the format of OpenAI's chat completions",
  request: { body: bodyOf(chatRequestSchema) },
  responses: {
    200: jsonOrEventsOf(chatCompletionSchema, 'The answer; with `stream`, its chunks'),
    ...refusals,
  },
});

/** https://platform.openai.com/docs/api-reference/chat */
export function addChat(app: App, gateway: Gateway): void {
  app.openapi(route, (c) => {
    const body = c.req.valid('json');
    const asked = askedOfChat(body, c.req.header(IGNORE_HEADER));
    return answer(c, gateway, asked, {
      whole: (end) => completionOf(end, asked),
      pieces: body.stream === true ? (id) => chunksOf(id, asked, body) : null,
    });
  });
}

/** Returns the chunks of one completion, each with the fields that clients require. */
function chunksOf(id: string, asked: SurfaceQuestion, { stream_options: options }: ChatRequest): Pieces {
  const base = {
    id: `chatcmpl-${id}`,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
    model: asked.model,
  };
  const chunk = (delta: object, finish_reason: string | null = null): EventFrame =>
    frameOf({ ...base, choices: [{ index: 0, delta, finish_reason, logprobs: null }] });
  return {
    nothing: () => chunk({}),
    error: (refusal) => frameOf(toOpenAiError(refusal)),
    async *frames(parts) {
      yield chunk({ role: 'assistant', content: asked.tool === undefined ? '' : null });
      let isBegun = false;
      let gap = '';
      for await (const part of parts) {
        if (part.kind === 'progress') yield chunk({ reasoning_content: `${part.line}\n` });
        else if (part.kind === 'thoughts') yield chunk({ reasoning_content: part.text });
        else if (part.kind === 'commented') gap = '\n\n';
        else if (part.kind === 'delta') {
          yield chunk(deltaOf(gap + part.text, isBegun ? null : id, asked));
          [isBegun, gap] = [true, ''];
        } else yield* ending(part.end);
      }
    },
  };
  function* ending(end: AnswerEnd): Generator<EventFrame> {
    const deltas = end.calls.flatMap((call, index) => deltasOfCall(call, index, asked));
    for (const delta of deltas) yield chunk({ tool_calls: [delta] });
    yield chunk({}, finishOf(end, asked));
    if (options?.include_usage === true)
      yield frameOf({ ...base, choices: [], usage: usageOf(end.spent), conductor: end.note });
    yield frameOf('[DONE]');
  }
}

function completionOf(end: AnswerEnd, asked: SurfaceQuestion): ChatCompletion {
  return {
    id: `chatcmpl-${end.id}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: asked.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, ...saidBy(end, asked) },
        finish_reason: finishOf(end, asked),
        logprobs: null,
      },
    ],
    usage: usageOf(end.spent),
    conductor: end.note,
  };
}

function saidBy({ id, text, calls }: AnswerEnd, asked: SurfaceQuestion) {
  if (calls.length > 0)
    return { content: text || null, tool_calls: calls.map((call) => toolCallOf(call, asked)) };
  const { tool } = asked;
  return tool === undefined
    ? { content: text }
    : { content: null, tool_calls: [demandedCall(id, tool, text)] };
}

/** Returns a call of one of the caller's functions, in the form in which the caller declared it. */
function toolCallOf({ id, name, arguments: input }: CallerCall, { functions }: SurfaceQuestion): ToolCall {
  const form = functions.forms.find((each) => each.name === name);
  return form?.isFreeText === true
    ? { id, type: 'custom', custom: { name, input: freeTextIn(input) } }
    : { id, type: 'function', function: { name, arguments: input } };
}

/** Returns a call as clients put it together: first what it is, then what it is given. */
function deltasOfCall(call: CallerCall, index: number, asked: SurfaceQuestion): object[] {
  const whole = toolCallOf(call, asked);
  if (whole.type === 'custom') {
    const { name, input } = whole.custom;
    return [
      { index, ...whole, custom: { name, input: '' } },
      { index, custom: { input } },
    ];
  }
  const { name, arguments: input } = whole.function;
  return [
    { index, ...whole, function: { name, arguments: '' } },
    { index, function: { arguments: input } },
  ];
}

/** Returns a piece of an answer. @param begunBy id of the answer with the first piece, else null */
function deltaOf(text: string, begunBy: string | null, { tool }: SurfaceQuestion): object {
  if (tool === undefined) return { content: text };
  const call = begunBy === null ? { function: { arguments: text } } : demandedCall(begunBy, tool, text);
  return { tool_calls: [{ index: 0, ...call }] };
}

/** Returns a call of the tool that the caller demands, whose input is the answer. */
function demandedCall(id: string, name: string, input: string): ToolCall {
  return { id: `call_${id}`, type: 'function', function: { name, arguments: input } };
}

function finishOf({ result, calls }: AnswerEnd, { tool }: SurfaceQuestion): 'stop' | 'length' | 'tool_calls' {
  if (result.answerCut === true) return 'length';
  return tool === undefined && calls.length === 0 ? 'stop' : 'tool_calls';
}

function usageOf(spent: SpentAmounts): CompletionUsage {
  const { input, output, cached, reasoning, orchestrationInput, orchestrationOutput } = spent;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, orchestration_tokens: orchestrationInput },
    completion_tokens_details: { reasoning_tokens: reasoning, orchestration_tokens: orchestrationOutput },
    ...costOf(spent),
  };
}
