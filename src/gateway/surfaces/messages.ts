import { createRoute, z } from '@hono/zod-openapi';
import { type SurfaceQuestion, IGNORE_HEADER } from '../solve/request-fields';
import { type EventFrame, frameOf } from '../event-stream';
import type { App, Gateway } from '../gateway';
import { toAnthropicError } from '../refusal';
import { bodyOf, jsonOf, jsonOrEventsOf, refusals } from '../routes';
import { costOf, noteOf, solveNoteSchema, tokensOf } from '../solve/facts';
import { answer, type AnsweredResult, type Pieces } from '../solve/answer';
import { checkRequest, requestOf } from '../solve/request-of';
import { askedOfMessages, countRequestSchema, messagesRequestSchema } from './messages-request';

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

const blockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
]);
type Block = z.infer<typeof blockSchema>;

const messageSchema = z
  .object({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(blockSchema),
    stop_reason: z.enum(['end_turn', 'max_tokens', 'tool_use']),
    stop_sequence: z.null(),
    usage: messageUsageSchema,
    conductor: solveNoteSchema,
  })
  .openapi('Message');
type AnthropicMessage = z.infer<typeof messageSchema>;

const route = createRoute({
  method: 'post',
  path: '/v1/messages',
  summary: "Answer a conversation in the format of Anthropic's messages",
  request: { body: bodyOf(messagesRequestSchema) },
  responses: { 200: jsonOrEventsOf(messageSchema, 'The answer; with `stream`, its events'), ...refusals },
});

const countSchema = z.object({ input_tokens: z.int() }).openapi('TokenCount');

const countRoute = createRoute({
  method: 'post',
  path: '/v1/messages/count_tokens',
  summary: 'Estimate the tokens of a conversation, which costs nothing',
  request: { body: bodyOf(countRequestSchema) },
  responses: {
    200: jsonOf(countSchema, 'Tokens of what a worker is sent of the request: one for three bytes of text'),
    ...refusals,
  },
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
  app.openapi(countRoute, (c) => {
    const asked = askedOfMessages(c.req.valid('json'), c.req.header(IGNORE_HEADER));
    checkRequest(gateway.config, requestOf(gateway.config, c.get('key'), asked));
    return c.json({ input_tokens: tokensAsked(asked) }, 200);
  });
}

/** Bytes of text for a token: fewer than in most texts, since too low a count would let a conversation outgrow a model. */
const BYTES_PER_TOKEN = 3;

/** Estimates the tokens of a conversation and its schema. Each worker has a tokenizer of its own. */
function tokensAsked({ messages, answerSchema }: SurfaceQuestion): number {
  const texts = messages.map(({ content }) => content);
  if (answerSchema !== undefined) texts.push(JSON.stringify(answerSchema));
  return Math.ceil(Buffer.byteLength(texts.join('')) / BYTES_PER_TOKEN);
}

type Event = Readonly<{ type: string } & Record<string, unknown>>;

const eventOf = (event: Event): EventFrame => frameOf(event, event.type);

const PING = eventOf({ type: 'ping' });

function piecesOf(id: string, asked: SurfaceQuestion): Pieces {
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
      yield eventOf({ type: 'content_block_start', index: 0, content_block: blockOf(id, asked, '') });
      for await (const part of parts) {
        if (part.kind === 'progress' || part.kind === 'thoughts') yield PING;
        else if (part.kind === 'delta') {
          const delta =
            asked.tool === undefined
              ? { type: 'text_delta', text: part.text }
              : { type: 'input_json_delta', partial_json: part.text };
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

/** Returns the block of an answer, or its beginning: a text, or a call of the tool that the caller demands. */
function blockOf(solveId: string, { tool }: SurfaceQuestion, answer: string): Block {
  if (tool === undefined) return { type: 'text', text: answer };
  const input = answer === '' ? {} : inputSchema.parse(JSON.parse(answer));
  return { type: 'tool_use', id: `toolu_${solveId}`, name: tool, input };
}

/** The answer to a demanded tool fits a schema of an object. */
const inputSchema = z.record(z.string(), z.unknown());

function stopOf({ answerCut }: AnsweredResult, { tool }: SurfaceQuestion): AnthropicMessage['stop_reason'] {
  if (answerCut === true) return 'max_tokens';
  return tool === undefined ? 'end_turn' : 'tool_use';
}

function messageOf(result: AnsweredResult, asked: SurfaceQuestion): AnthropicMessage {
  const { input, output, cached, cacheWritten } = tokensOf(result);
  return {
    id: `msg_${result.id}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: [blockOf(result.id, asked, result.answer)],
    stop_reason: stopOf(result, asked),
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
