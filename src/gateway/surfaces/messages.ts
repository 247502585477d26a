import { createRoute, z } from '@hono/zod-openapi';
import type { CallerCall } from '../../client';
import { IGNORE_HEADER } from '../solve/request-fields';
import type { SurfaceQuestion } from '../solve/surface-question';
import { type EventFrame, frameOf } from '../event-stream';
import type { App, Gateway } from '../gateway';
import { toAnthropicError } from '../refusal';
import { bodyOf, jsonOf, jsonOrEventsOf, refusals } from '../routes';
import type { ConversationCall } from '../../plan/plan';
import { argumentsIn } from '../../protocol/parts';
import { costOf, solveNoteSchema, type SpentAmounts } from '../solve/facts';
import { answer, type AnswerEnd, type Pieces } from '../solve/answer';
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
      whole: (end) => messageOf(end, asked),
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

/** A call with its result: in a conversation of a coding agent, they are most of it. */
const textOfCall = ({ name, arguments: input, output = '' }: ConversationCall): string =>
  name + input + output;

/** Estimates the tokens of a conversation, its functions and its schema. Each worker has a tokenizer of its own. */
function tokensAsked({ messages, answerSchema, functions: { tools } }: SurfaceQuestion): number {
  const texts = messages.flatMap(({ content, calls = [] }) => [content, ...calls.map(textOfCall)]);
  if (tools.length > 0) texts.push(JSON.stringify(tools));
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
      const blocks = new Blocks();
      for await (const part of parts) {
        if (part.kind === 'progress' || part.kind === 'thoughts') yield PING;
        else if (part.kind === 'commented') yield* blocks.close();
        else if (part.kind === 'delta') yield* blocks.write(answerBlock(id, asked, ''), part.text);
        else {
          yield* blocks.close();
          for (const call of part.end.calls) yield* blocks.add(callBlock(call), call.arguments);
          const { stop_reason, stop_sequence, usage, conductor } = messageOf(part.end, asked);
          yield eventOf({ type: 'message_delta', delta: { stop_reason, stop_sequence }, usage, conductor });
          yield eventOf({ type: 'message_stop' });
        }
      }
    },
  };
}

/** Writes the blocks of a message, one after another. */
class Blocks {
  private index = 0;
  private isOpen = false;

  /** Continues the open block, or begins one. */
  *write(block: Block, text: string): Generator<EventFrame> {
    const { index } = this;
    // Clients take the input from the deltas alone.
    const content_block = block.type === 'text' ? block : { ...block, input: {} };
    if (!this.isOpen) yield eventOf({ type: 'content_block_start', index, content_block });
    this.isOpen = true;
    const delta =
      block.type === 'text' ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text };
    yield eventOf({ type: 'content_block_delta', index, delta });
  }

  *close(): Generator<EventFrame> {
    if (!this.isOpen) return;
    yield eventOf({ type: 'content_block_stop', index: this.index });
    this.isOpen = false;
    this.index += 1;
  }

  *add(block: Block, text: string): Generator<EventFrame> {
    yield* this.write(block, text);
    yield* this.close();
  }
}

/** Returns the block of an answer, or its beginning: a text, or a call of the tool that the caller demands. */
function answerBlock(answerId: string, { tool }: SurfaceQuestion, text: string): Block {
  if (tool === undefined) return { type: 'text', text };
  return { type: 'tool_use', id: `toolu_${answerId}`, name: tool, input: argumentsIn(text) ?? {} };
}

/** Returns the block of a call of one of the caller's functions. */
function callBlock({ id, name, arguments: input }: CallerCall): Block {
  return { type: 'tool_use', id, name, input: argumentsIn(input) ?? {} };
}

function contentOf({ id, text, calls }: AnswerEnd, asked: SurfaceQuestion): Block[] {
  const said = calls.length > 0 && text.trim() === '' ? [] : [answerBlock(id, asked, text)];
  return [...said, ...calls.map(callBlock)];
}

function stopOf({ result, calls }: AnswerEnd, { tool }: SurfaceQuestion): AnthropicMessage['stop_reason'] {
  if (result.answerCut === true) return 'max_tokens';
  return tool === undefined && calls.length === 0 ? 'end_turn' : 'tool_use';
}

function messageOf(end: AnswerEnd, asked: SurfaceQuestion): AnthropicMessage {
  return {
    id: `msg_${end.id}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: contentOf(end, asked),
    stop_reason: stopOf(end, asked),
    stop_sequence: null,
    usage: usageOf(end.spent),
    conductor: end.note,
  };
}

function usageOf(spent: SpentAmounts): AnthropicMessage['usage'] {
  const { input, output, cached, cacheWritten } = spent;
  return {
    // Anthropic counts tokens read from or written to a cache separately from other input.
    input_tokens: input - cached - cacheWritten,
    output_tokens: output,
    cache_creation_input_tokens: cacheWritten,
    cache_read_input_tokens: cached,
    ...costOf(spent),
  };
}
