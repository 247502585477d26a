import { createRoute, z } from '@hono/zod-openapi';
import {
  type Asked,
  checkFields,
  contentSchema,
  extensionSchema,
  IGNORE_HEADER,
  MOST_ITEMS,
  type RefusedFields,
  TOOLS_REFUSED,
  textOf,
  turnsOf,
} from '../solve/request-fields';
import { type Frame, frameOf } from '../event-stream';
import type { App, Gateway } from '../gateway';
import { toAnthropicError } from '../refusal';
import { bodyOf, jsonOrEventsOf, refusals } from '../routes';
import { costOf, noteOf, solveNoteSchema, tokensOf } from '../solve/facts';
import { answer, type AnsweredResult, type Pieces } from '../solve/answer';

/** Supported fields of a message request (https://docs.anthropic.com/en/api/messages). */
const messagesRequestSchema = z
  .looseObject({
    model: z.string(),
    max_tokens: z.int().min(1),
    messages: z
      .array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: contentSchema }))
      .min(1)
      .max(MOST_ITEMS),
    system: contentSchema.nullish(),
    stream: z.boolean().nullish(),
    metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
    conductor: extensionSchema.nullish(),
  })
  .openapi('MessagesRequest');
type MessagesRequest = z.infer<typeof messagesRequestSchema>;

const NO_TOOL = z.looseObject({ type: z.enum(['none', 'auto']) });

const REFUSED: RefusedFields = {
  tools: TOOLS_REFUSED,
  tool_choice: { ...TOOLS_REFUSED, asksNothing: (value) => NO_TOOL.safeParse(value).success },
  mcp_servers: TOOLS_REFUSED,
};

/** @throws Refusal for an unsupported request */
function askedOfMessages(body: MessagesRequest, ignored?: string): Asked {
  const system = textOf(body.system, 'system');
  const turns = turnsOf(body.messages, 'messages');
  return {
    model: body.model,
    messages: system.trim() === '' ? turns : [{ role: 'system', content: system }, ...turns],
    maxAnswerTokens: body.max_tokens,
    extension: body.conductor ?? {},
    warnings: checkFields(body, messagesRequestSchema.shape, REFUSED, ignored),
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

const messageSchema = z
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
type Message = z.infer<typeof messageSchema>;

const route = createRoute({
  method: 'post',
  path: '/v1/messages',
  summary: "Answer a conversation in the format of Anthropic's messages",
  request: { body: bodyOf(messagesRequestSchema) },
  responses: { 200: jsonOrEventsOf(messageSchema, 'The answer; with `stream`, its events'), ...refusals },
});

/** https://docs.anthropic.com/en/api/messages */
export function addMessages(app: App, gateway: Gateway): void {
  app.openapi(route, (c) => {
    const body = c.req.valid('json');
    const asked = askedOfMessages(body, c.req.header(IGNORE_HEADER));
    return answer(c, gateway, asked, {
      whole: (result) => messageOf(result, asked),
      pieces: body.stream === true ? (id) => piecesOf(id, asked) : null,
    });
  });
}

type Event = Readonly<{ type: string } & Record<string, unknown>>;

const eventOf = (event: Event): Frame => frameOf(event, event.type);

const PING = eventOf({ type: 'ping' });

function piecesOf(id: string, asked: Asked): Pieces {
  return {
    nothing: () => PING,
    error: (refusal) => frameOf(toAnthropicError(refusal), 'error'),
    async *frames(parts) {
      const message = {
        id: `msg_${id}`,
        type: 'message',
        role: 'assistant',
        model: asked.model,
        content: [],
      };
      const usage = { input_tokens: 0, output_tokens: 0 };
      const begun = { ...message, stop_reason: null, stop_sequence: null, usage };
      yield eventOf({ type: 'message_start', message: begun });
      yield eventOf({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
      for await (const part of parts) {
        if (part.kind === 'progress') yield PING;
        else if (part.kind === 'delta') {
          const delta = { type: 'text_delta', text: part.text };
          yield eventOf({ type: 'content_block_delta', index: 0, delta });
        } else {
          const { stop_reason, stop_sequence, usage, conductor } = messageOf(part.result, asked);
          yield eventOf({ type: 'content_block_stop', index: 0 });
          yield eventOf({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage, conductor });
          yield eventOf({ type: 'message_stop' });
        }
      }
    },
  };
}

function messageOf(result: AnsweredResult, asked: Asked): Message {
  const { input, output, cached, cacheWritten } = tokensOf(result);
  return {
    id: `msg_${result.id}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: [{ type: 'text', text: result.answer }],
    stop_reason: result.answerCut === true ? 'max_tokens' : 'end_turn',
    stop_sequence: null,
    usage: {
      // Anthropic counts tokens read from or written to a cache separately from other input.
      input_tokens: input - cached - cacheWritten,
      output_tokens: output,
      cache_creation_input_tokens: cacheWritten,
      cache_read_input_tokens: cached,
      ...costOf(result),
    },
    conductor: noteOf(result, asked),
  };
}
