import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { ERRORS } from '../faults';
import type { StreamEvent } from '../stream';
import type { WholeReply, Wire } from './wire';

const content = z.union([
  z.string().transform((text) => [{ text }]),
  z.array(z.object({ text: z.string(), cache_control: z.looseObject({}).exactOptional() })),
]);

const requestSchema = z.object({
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  system: content.exactOptional(),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant', 'system']), content })).min(1),
});

const STOP_REASONS = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', filtered: 'refusal' };

/** Anthropic Messages (docs.claude.com/en/api/messages and /en/api/errors). */
export const anthropic: Wire = {
  protocol: 'anthropic',
  requestIdHeader: 'request-id',
  decode: (body) => {
    const { model, max_tokens, system, messages } = requestSchema.parse(body);
    const turns = messages.map(({ role, content }): Message => ({ role, text: joined(content, '') }));
    const blocks = [...(system ?? []), ...messages.flatMap(({ content }) => content)];
    const kept = blocks.slice(0, blocks.findLastIndex((block) => 'cache_control' in block) + 1);
    return {
      model,
      messages: system === undefined ? turns : [{ role: 'system', text: joined(system, '') }, ...turns],
      maxOutputTokens: max_tokens,
      keptPrefix: joined(kept, '\n') || undefined,
    };
  },
  encodeReply: (reply) => encodeMessage(reply),
  encodeStream: (reply, pieces) => {
    const { content, stop_reason, stop_sequence, stop_details, ...message } = encodeMessage(reply);
    const { usage = null } = message;
    const blocks = content.map((block, index) => encodeBlock(block, index, pieces));
    return [
      // The output token count is a placeholder at this point.
      event('message_start', {
        message: { ...message, content: [], usage: usage && { ...usage, output_tokens: 1 } },
      }),
      event('ping', {}),
      ...blocks.flat(),
      event('message_delta', {
        delta: { stop_reason, stop_sequence, stop_details },
        usage: usage && {
          output_tokens: usage.output_tokens,
          output_tokens_details: usage.output_tokens_details,
        },
      }),
      event('message_stop', {}),
    ];
  },
  encodeError: (kind, message) => {
    const [status, , , type] = ERRORS[kind];
    return {
      status: kind === 'quota-exceeded' ? 402 : status,
      body: { type: 'error', error: { type, message }, request_id: null },
    };
  },
};

function encodeMessage({ model, sequence, text, finish, refusal, usage, stated }: WholeReply) {
  const thinking = { type: 'thinking', thinking: '', signature: `simulated-${sequence}` };
  const declined = finish === 'refusal' || finish === 'filtered';
  return {
    id: `msg_${sequence}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(usage.reasoningTokens > 0 ? [thinking] : []),
      ...(text === '' ? [] : [{ type: 'text', text, citations: null }]),
    ],
    stop_reason: STOP_REASONS[finish],
    stop_sequence: null,
    stop_details: declined ? { type: 'refusal', category: null, explanation: refusal } : null,
    usage: stated ? encodeUsage(stated) : undefined,
  };
}

type Block = ReturnType<typeof encodeMessage>['content'][number];

function encodeBlock(block: Block, index: number, pieces: readonly string[]): StreamEvent[] {
  const begun = block.type === 'text' ? { ...block, text: '' } : block;
  return [
    event('content_block_start', { index, content_block: begun }),
    ...(block.type === 'text'
      ? pieces.map((text) => event('content_block_delta', { index, delta: { type: 'text_delta', text } }))
      : []),
    event('content_block_stop', { index }),
  ];
}

function event(name: string, data: object): StreamEvent {
  return { name, data: { type: name, ...data } };
}

function joined(blocks: readonly { readonly text: string }[], between: string): string {
  return blocks.map(({ text }) => text).join(between);
}

function encodeUsage(usage: Usage) {
  const { cacheWriteTokens = 0 } = usage;
  return {
    // Anthropic counts tokens read from or written to the cache besides the input tokens, not among them.
    input_tokens: usage.inputTokens - usage.cachedInputTokens - cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_creation: { ephemeral_5m_input_tokens: cacheWriteTokens, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
  };
}
