import { z } from '@hono/zod-openapi';
import {
  type Asked,
  answerSchemaOf,
  checkFields,
  EFFORTS,
  extensionSchema,
  FORMATS,
  TOOLS_REFUSED,
  type UntakenFields,
} from '../solve/asked';
import { solveNoteSchema } from '../solve/note';
import { turnsOf } from '../solve/turns-of';

const messageSchema = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish(),
});

const takenFields = {
  model: z.string(),
  messages: z.array(messageSchema).min(1),
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
};

/** Supported fields of a chat completion request (https://platform.openai.com/docs/api-reference/chat/create). */
export const chatRequestSchema = z.looseObject(takenFields).openapi('ChatCompletionRequest');
export type ChatRequest = z.infer<typeof chatRequestSchema>;

const FIELDS: UntakenFields = {
  taken: new Set(Object.keys(takenFields).filter((name) => name !== 'n')),
  refused: {
    n: {
      asksNothing: (value) => value === 1,
      instead: 'a request gives one answer; send the request again for another',
    },
    tools: TOOLS_REFUSED,
    functions: TOOLS_REFUSED,
    tool_choice: { ...TOOLS_REFUSED, asksNothing: (value) => value === 'none' || value === 'auto' },
    logprobs: {
      asksNothing: (value) => value === false,
      instead: "a team's answer has no log-probabilities; leave it out",
    },
    audio: { asksNothing: () => false, instead: 'answers are text; leave it out' },
    modalities: {
      asksNothing: (value) => JSON.stringify(value) === '["text"]',
      instead: 'answers are text; leave it out',
    },
    web_search_options: { asksNothing: () => false, instead: 'workers do not search; leave it out' },
  },
};

/** @throws Refusal for an unsupported request */
export function askedOfChat(body: ChatRequest, ignored?: string): Asked {
  const { response_format: format } = body;
  return {
    model: body.model,
    messages: turnsOf(body.messages, 'messages'),
    answerSchema: answerSchemaOf(format, format?.json_schema?.schema, 'response_format'),
    maxAnswerTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    seed: body.seed ?? undefined,
    effort: body.reasoning_effort ?? undefined,
    extension: body.conductor ?? {},
    warnings: checkFields(body, FIELDS, ignored),
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
export type CompletionUsage = z.infer<typeof completionUsageSchema>;

export const chatCompletionSchema = z
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
export type ChatCompletion = z.infer<typeof chatCompletionSchema>;
