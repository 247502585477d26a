import { createRoute, z } from '@hono/zod-openapi';
import type { SolveResult } from '../../protocol/solve';
import {
  type Asked,
  answerSchemaOf,
  checkFields,
  contentSchema,
  EFFORTS,
  extensionSchema,
  FORMATS,
  IGNORE_HEADER,
  MOST_ITEMS,
  type RefusedFields,
  TOOL_CHOICE_REFUSED,
  TOOLS_REFUSED,
  turnsOf,
} from '../solve/request-fields';
import { type Frame, frameOf } from '../event-stream';
import type { App, Gateway } from '../gateway';
import { toOpenAiError } from '../refusal';
import { bodyOf, jsonOrEventsOf, refusals } from '../routes';
import { costOf, noteOf, solveNoteSchema, tokensOf } from '../solve/facts';
import { answer, type AnsweredResult, type Pieces } from '../solve/answer';

const messageSchema = z.looseObject({
  role: z.string(),
  content: contentSchema.nullish(),
});

/** Supported fields of a chat completion request (https://platform.openai.com/docs/api-reference/chat/create). */
const chatRequestSchema = z
  .looseObject({
    model: z.string(),
    messages: z.array(messageSchema).min(1).max(MOST_ITEMS),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    max_tokens: z.int().min(1).nullish(),
    max_completion_tokens: z.int().min(1).nullish(),
    n: z.int().nullish(),
    seed: z.int().nullish(),
    user: z.string().nullish(),
    response_format: z
      .looseObject({ type: z.enum(FORMATS), json_schema: z.looseObject({ schema: z.unknown() }).nullish() })
      .nullish(),
    reasoning_effort: z.enum(EFFORTS).nullish(),
    conductor: extensionSchema.nullish(),
  })
  .openapi('ChatCompletionRequest');
type ChatRequest = z.infer<typeof chatRequestSchema>;

const REFUSED: RefusedFields = {
  n: {
    asksNothing: (value) => value === 1,
    instead: 'a request gives one answer; send the request again for another',
  },
  tools: TOOLS_REFUSED,
  functions: TOOLS_REFUSED,
  tool_choice: TOOL_CHOICE_REFUSED,
  logprobs: {
    asksNothing: (value) => value === false,
    instead: "a team's answer has no log-probabilities; leave it out",
  },
  audio: { instead: 'answers are text; leave it out' },
  modalities: {
    asksNothing: (value) => JSON.stringify(value) === '["text"]',
    instead: 'answers are text; leave it out',
  },
  web_search_options: { instead: 'workers do not search; leave it out' },
};

/** @throws Refusal for an unsupported request */
function askedOfChat(body: ChatRequest, ignored?: string): Asked {
  const { response_format: format } = body;
  return {
    model: body.model,
    messages: turnsOf(body.messages, 'messages'),
    answerSchema: answerSchemaOf(format, format?.json_schema?.schema, 'response_format'),
    maxAnswerTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    seed: body.seed ?? undefined,
    effort: body.reasoning_effort ?? undefined,
    extension: body.conductor ?? {},
    warnings: checkFields(body, chatRequestSchema.shape, REFUSED, ignored),
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

const chatCompletionSchema = z
  .object({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({ role: z.literal('assistant'), content: nullable, refusal: nullable }),
        finish_reason: z.enum(['stop', 'length']),
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
function chunksOf(solveId: string, asked: Asked, { stream_options: options }: ChatRequest): Pieces {
  const base = {
    id: `chatcmpl-${solveId}`,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
    model: asked.model,
  };
  const chunk = (delta: object, finish_reason: string | null = null): Frame =>
    frameOf({ ...base, choices: [{ index: 0, delta, finish_reason, logprobs: null }] });
  return {
    nothing: () => chunk({}),
    error: (refusal) => frameOf(toOpenAiError(refusal)),
    async *frames(parts) {
      yield chunk({ role: 'assistant', content: '' });
      for await (const part of parts) {
        if (part.kind === 'progress') yield chunk({ reasoning_content: `${part.line}\n` });
        else if (part.kind === 'delta') yield chunk({ content: part.text });
        else {
          const { result } = part;
          yield chunk({}, finishOf(result));
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

function completionOf(result: AnsweredResult, asked: Asked): ChatCompletion {
  return {
    id: `chatcmpl-${result.id}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: asked.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: result.answer, refusal: null },
        finish_reason: finishOf(result),
        logprobs: null,
      },
    ],
    usage: usageOf(result),
    conductor: noteOf(result, asked),
  };
}

function finishOf(result: SolveResult): 'stop' | 'length' {
  return result.answerCut === true ? 'length' : 'stop';
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
