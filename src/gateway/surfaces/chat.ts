import { createRoute, z } from '@hono/zod-openapi';
import type { SolveResult } from '../../protocol/solve';
import {
  IgnoredFields,
  type SurfaceQuestion,
  checkFields,
  REQUEST_EFFORTS,
  extensionSchema,
  IGNORE_HEADER,
  limitOf,
  MOST_ITEMS,
  readEffort,
} from '../solve/request-fields';
import { readForm } from '../solve/request-form';
import { messageSchema, placed, turnsOf } from '../solve/request-turns';
import { type EventFrame, frameOf } from '../event-stream';
import type { App, Gateway } from '../gateway';
import { toOpenAiError } from '../refusal';
import { bodyOf, jsonOrEventsOf, refusals } from '../routes';
import { costOf, noteOf, solveNoteSchema, tokensOf } from '../solve/facts';
import { answer, type AnsweredResult, type Pieces } from '../solve/answer';

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
  const messages = turnsOf(placed(body.messages, 'messages'), allowance);
  checkFields(body, chatRequestSchema.shape, allowance);
  return {
    model: body.model,
    messages,
    ...readForm(body),
    maxAnswerTokens: limitOf(body.max_completion_tokens ?? body.max_tokens),
    seed: body.seed ?? undefined,
    effort: readEffort(body),
    extension: body.conductor ?? {},
    warnings: allowance.warnings,
  };
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

const toolCallSchema = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
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
      whole: (result) => completionOf(result, asked),
      pieces: body.stream === true ? (id) => chunksOf(id, asked, body) : null,
    });
  });
}

/** Returns the chunks of one completion, each with the fields that clients require. */
function chunksOf(solveId: string, asked: SurfaceQuestion, { stream_options: options }: ChatRequest): Pieces {
  const base = {
    id: `chatcmpl-${solveId}`,
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
      for await (const part of parts) {
        if (part.kind === 'progress') yield chunk({ reasoning_content: `${part.line}\n` });
        else if (part.kind === 'thoughts') yield chunk({ reasoning_content: part.text });
        else if (part.kind === 'delta') {
          yield chunk(deltaOf(part.text, isBegun ? null : solveId, asked));
          isBegun = true;
        } else {
          const { result } = part;
          yield chunk({}, finishOf(result, asked));
          if (options?.include_usage === true) {
            const conductor = noteOf(result, asked);
            yield frameOf({ ...base, choices: [], usage: usageOf(result), conductor });
          }
          yield frameOf('[DONE]');
        }
      }
    },
  };
}

function completionOf(result: AnsweredResult, asked: SurfaceQuestion): ChatCompletion {
  return {
    id: `chatcmpl-${result.id}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: asked.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, ...saidIn(result, asked) },
        finish_reason: finishOf(result, asked),
        logprobs: null,
      },
    ],
    usage: usageOf(result),
    conductor: noteOf(result, asked),
  };
}

function saidIn({ id, answer }: AnsweredResult, { tool }: SurfaceQuestion) {
  return tool === undefined ? { content: answer } : { content: null, tool_calls: [callOf(id, tool, answer)] };
}

/** Returns a piece of an answer. @param begunBy id of the solve with the first piece, else null */
function deltaOf(text: string, begunBy: string | null, { tool }: SurfaceQuestion): object {
  if (tool === undefined) return { content: text };
  const call = begunBy === null ? { function: { arguments: text } } : callOf(begunBy, tool, text);
  return { tool_calls: [{ index: 0, ...call }] };
}

/** Returns a call of the tool that the caller demands, whose input is the answer. */
function callOf(solveId: string, name: string, input: string): ToolCall {
  return { id: `call_${solveId}`, type: 'function', function: { name, arguments: input } };
}

function finishOf(result: SolveResult, { tool }: SurfaceQuestion): 'stop' | 'length' | 'tool_calls' {
  if (result.answerCut === true) return 'length';
  return tool === undefined ? 'stop' : 'tool_calls';
}

function usageOf(result: SolveResult): CompletionUsage {
  const { input, output, cached, reasoning, orchestrationInput, orchestrationOutput } = tokensOf(result);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, orchestration_tokens: orchestrationInput },
    completion_tokens_details: { reasoning_tokens: reasoning, orchestration_tokens: orchestrationOutput },
    ...costOf(result),
  };
}
