import { z } from '@hono/zod-openapi';
import { type Asked, checkFields, extensionSchema, TOOLS_REFUSED, type UntakenFields } from '../solve/asked';
import { solveNoteSchema } from '../solve/note';
import { textOf, turnsOf } from '../solve/turns-of';

const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

const takenFields = {
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z
    .array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: contentSchema }))
    .min(1),
  system: contentSchema.nullish(),
  stream: z.boolean().nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  conductor: extensionSchema.nullish(),
};

/** Supported fields of a message request (https://docs.anthropic.com/en/api/messages). */
export const messagesRequestSchema = z.looseObject(takenFields).openapi('MessagesRequest');
export type MessagesRequest = z.infer<typeof messagesRequestSchema>;

const NO_TOOL = z.looseObject({ type: z.enum(['none', 'auto']) });

const FIELDS: UntakenFields = {
  taken: new Set(Object.keys(takenFields)),
  refused: {
    tools: TOOLS_REFUSED,
    tool_choice: { ...TOOLS_REFUSED, asksNothing: (value) => NO_TOOL.safeParse(value).success },
    mcp_servers: TOOLS_REFUSED,
  },
};

/** @throws Refusal for an unsupported request */
export function askedOfMessages(body: MessagesRequest, ignored?: string): Asked {
  const system = textOf(body.system, 'system');
  const turns = turnsOf(body.messages, 'messages');
  return {
    model: body.model,
    messages: system.trim() === '' ? turns : [{ role: 'system', content: system }, ...turns],
    maxAnswerTokens: body.max_tokens,
    extension: body.conductor ?? {},
    warnings: checkFields(body, FIELDS, ignored),
  };
}

const messageUsageSchema = z
  .object({
    input_tokens: z.int(),
    output_tokens: z.int(),
    cache_creation_input_tokens: z.int(),
    cache_read_input_tokens: z.int(),
    cost: z.number(),
    cost_details: z.object({ is_lower_bound: z.boolean() }),
  })
  .openapi('MessageUsage');

export const messageSchema = z
  .object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
    stop_reason: z.enum(['end_turn', 'max_tokens']),
    stop_sequence: z.null(),
    usage: messageUsageSchema,
    conductor: solveNoteSchema,
  })
  .openapi('Message');
export type Message = z.infer<typeof messageSchema>;
