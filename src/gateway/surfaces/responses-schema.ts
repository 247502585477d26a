import { z } from '@hono/zod-openapi';
import { isRecord } from '../../plan/validate';
import type { ConversationTurn } from '../../protocol/input';
import {
  type Asked,
  answerSchemaOf,
  checkFields,
  contentSchema,
  EFFORTS,
  extensionSchema,
  MOST_ITEMS,
  type RefusedFields,
  TOOL_CHOICE_REFUSED,
  TOOLS_REFUSED,
  turnsOf,
} from '../solve/request-fields';
import { badRequest } from '../refusal';

const itemSchema = z.looseObject({
  type: z.string().nullish(),
  role: z.string().nullish(),
  content: contentSchema.nullish(),
});
type InputItem = z.infer<typeof itemSchema>;

const formatSchema = z.union([
  z.looseObject({ type: z.literal(['text', 'json_object']) }),
  z.looseObject({ type: z.literal('json_schema'), name: z.string().nullish(), schema: z.unknown() }),
]);

/** OpenAI's own bounds, of which the number of pairs is checked first. */
const metadataSchema = z
  .custom<Readonly<Record<string, string>>>(isMetadata, {
    error: 'expected at most 16 pairs of texts: names of at most 64 characters, values of at most 512',
  })
  .openapi({
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 512 },
    maxProperties: 16,
  });

function isMetadata(value: unknown): boolean {
  const pairs = isRecord(value) ? Object.entries(value) : null;
  if (pairs === null || pairs.length > 16) return false;
  return pairs.every(([name, text]) => name.length <= 64 && typeof text === 'string' && text.length <= 512);
}

const textSchema = z.looseObject({ format: formatSchema.nullish() });
const reasoningSchema = z.looseObject({ effort: z.enum(EFFORTS).nullish() });

/** Supported fields of a response request (https://platform.openai.com/docs/api-reference/responses/create). */
export const responseRequestSchema = z
  .looseObject({
    model: z.string(),
    input: z.union([z.string(), z.array(itemSchema).min(1).max(MOST_ITEMS)]),
    instructions: z.string().nullish(),
    stream: z.boolean().nullish(),
    background: z.boolean().nullish(),
    store: z.boolean().nullish(),
    previous_response_id: z.string().nullish(),
    max_output_tokens: z.int().min(1).nullish(),
    text: textSchema.nullish(),
    reasoning: reasoningSchema.nullish(),
    seed: z.int().nullish(),
    user: z.string().max(512).nullish(),
    metadata: metadataSchema.nullish(),
    conductor: extensionSchema.nullish(),
  })
  .openapi('ResponseRequest');
export type ResponseRequest = z.infer<typeof responseRequestSchema>;

const REFUSED: RefusedFields = {
  tools: TOOLS_REFUSED,
  tool_choice: TOOL_CHOICE_REFUSED,
  conversation: {
    instead: 'send the id of the response to continue as previous_response_id, or all turns as input',
  },
  prompt: { instead: 'prompt templates are not stored here; send the text as input' },
  top_logprobs: {
    asksNothing: (value) => value === 0,
    instead: "a team's answer has no log-probabilities; leave it out",
  },
};

/** Fields of `reasoning` that are accepted: those about a summary too, since one is always told. */
const reasoningFields = { ...reasoningSchema.shape, summary: true, generate_summary: true };

/** @param before turns that `previous_response_id` stands for @throws Refusal for an unsupported request */
export function askedOfResponse(
  body: ResponseRequest,
  before: readonly ConversationTurn[],
  ignored?: string,
): Asked {
  return {
    model: body.model,
    messages: [...instructionsOf(body), ...before, ...turnsOfInput(body.input)],
    answerSchema: formOf(body),
    maxAnswerTokens: body.max_output_tokens ?? undefined,
    seed: body.seed ?? undefined,
    effort: body.reasoning?.effort ?? undefined,
    extension: body.conductor ?? {},
    warnings: warningsOf(body, ignored),
  };
}

function formOf({ text }: ResponseRequest): Asked['answerSchema'] {
  const format = text?.format;
  if (format == null) return undefined;
  return answerSchemaOf(format, 'schema' in format ? format.schema : undefined, 'text.format');
}

function warningsOf(body: ResponseRequest, ignored: string | undefined): string[] {
  return [
    ...checkFields(body, responseRequestSchema.shape, REFUSED, ignored),
    ...checkFields(body.text ?? {}, textSchema.shape, {}, ignored).map((warning) => `text.${warning}`),
    ...checkFields(body.reasoning ?? {}, reasoningFields, {}, ignored).map(
      (warning) => `reasoning.${warning}`,
    ),
    ...(body.store === false ? ['store is ignored: every solve is kept'] : []),
  ];
}

function instructionsOf({ instructions }: ResponseRequest): ConversationTurn[] {
  const content = instructions ?? '';
  return content.trim() === '' ? [] : [{ role: 'system', content }];
}

function turnsOfInput(input: ResponseRequest['input']): ConversationTurn[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  // Clients send back all output of a response, including the reasoning items with its progress lines.
  const items = input.filter(({ type }) => type !== 'reasoning');
  return turnsOf(items.map(messageOf), 'input');
}

function messageOf({ type, role, content }: InputItem, index: number) {
  const place = `input[${index}]`;
  if (type != null && type !== 'message') {
    const what = `${place}.type is ${JSON.stringify(type.slice(0, 40))}`;
    const remedy = 'only messages are supported; put what a tool or a file says into words';
    throw badRequest(`${what}: ${remedy}`, `${place}.type`, 'unsupported_content');
  }
  return { role: role ?? '', content };
}

/** Part of a request that is kept in its run's memo, so that the response can be retrieved later. */
export const notesSchema = z.object({
  model: z.string(),
  created_at: z.int(),
  background: z.boolean(),
  previous_response_id: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  effort: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  user: z.string().nullable(),
  /** Whether the first turn is this request's instructions, which do not apply to follow-up responses. */
  isInstructed: z.boolean(),
  trace: extensionSchema.shape.trace,
  warnings: z.array(z.string()),
});
export type ResponseNotes = Readonly<z.infer<typeof notesSchema>>;

export function notesOf(body: ResponseRequest, { model, warnings, extension }: Asked): ResponseNotes {
  return {
    model,
    created_at: Math.floor(Date.now() / 1000),
    background: body.background === true,
    previous_response_id: body.previous_response_id ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    effort: body.reasoning?.effort ?? null,
    metadata: body.metadata ?? {},
    user: body.user ?? null,
    isInstructed: instructionsOf(body).length > 0,
    trace: extension.trace,
    warnings: [...warnings],
  };
}
