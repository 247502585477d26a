import type { ContentBlock, Message as MessageReply } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/call';
import type { ErrorFaultKind } from '../faults';
import { type Decoded, textContent, type Wire, type WireError, type WholeReply } from './wire';

const requestSchema = z.object({
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  system: textContent.exactOptional(),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant', 'system']), content: textContent })).min(1),
  stream: z.boolean().exactOptional(),
});

const STOP_REASONS = {
  stop: 'end_turn',
  length: 'max_tokens',
  refusal: 'refusal',
  filtered: 'refusal',
} as const;

const ERRORS: Record<ErrorFaultKind, readonly [status: number, type: string]> = {
  'bad-request': [400, 'invalid_request_error'],
  unauthorized: [401, 'authentication_error'],
  'invalid-key': [401, 'authentication_error'],
  forbidden: [403, 'permission_error'],
  'not-found': [404, 'not_found_error'],
  'request-timeout': [408, 'timeout_error'],
  'too-large': [413, 'request_too_large'],
  unprocessable: [422, 'invalid_request_error'],
  'rate-limited': [429, 'rate_limit_error'],
  'quota-exceeded': [402, 'billing_error'],
  'server-error': [500, 'api_error'],
  'bad-gateway': [502, 'api_error'],
  unavailable: [503, 'api_error'],
  'gateway-timeout': [504, 'timeout_error'],
  overloaded: [529, 'overloaded_error'],
};

/** Anthropic Messages (docs.claude.com/en/api/messages and /en/api/errors). */
export const anthropic: Wire = {
  protocol: 'anthropic',
  requestIdHeader: 'request-id',
  decode,
  encodeReply,
  encodeError,
};

function decode(body: unknown): Decoded {
  const { model, max_tokens, system, messages, stream } = requestSchema.parse(body);
  const turns = messages.map(({ role, content }): Message => ({ role, text: content }));
  const prefix = keptPrefix(body);
  return {
    model,
    messages: system === undefined ? turns : [{ role: 'system', text: system }, ...turns],
    maxOutputTokens: max_tokens,
    stream: stream ?? false,
    ...(prefix !== null && { keptPrefix: prefix }),
  };
}

const blocksSchema = z.array(
  z.looseObject({ text: z.string(), cache_control: z.looseObject({}).exactOptional() }),
);

/** All text up to the end of the last block that is to be kept; null where there is none. */
function keptPrefix(body: unknown): string | null {
  const { system, messages } = z
    .looseObject({
      system: z.unknown().optional(),
      messages: z.array(z.looseObject({ content: z.unknown() })),
    })
    .parse(body);
  const blocks = [system, ...messages.map(({ content }) => content)].flatMap((content) => {
    const read = blocksSchema.safeParse(content);
    return read.success ? read.data : [{ text: typeof content === 'string' ? content : '' }];
  });
  const last = blocks.findLastIndex((block) => 'cache_control' in block);
  return last === -1
    ? null
    : blocks
        .slice(0, last + 1)
        .map(({ text }) => text)
        .join('\n');
}

/** The vendor always states the usage; a simulated one may not. */
type WireMessage = Omit<MessageReply, 'usage'> & { usage: MessageReply['usage'] | undefined };

function encodeReply(reply: WholeReply): WireMessage {
  const { model, sequence, finish, refusal, stated } = reply;
  const declined = finish === 'refusal' || finish === 'filtered';
  return {
    id: `msg_${sequence}`,
    type: 'message',
    role: 'assistant',
    model,
    content: contentBlocks(reply),
    stop_reason: STOP_REASONS[finish],
    stop_sequence: null,
    stop_details: declined ? { type: 'refusal', category: null, explanation: refusal } : null,
    usage: stated ? encodeUsage(stated) : undefined,
    container: null,
    diagnostics: null,
  };
}

function encodeUsage(usage: Usage): MessageReply['usage'] {
  const { cacheWriteTokens = 0 } = usage;
  return {
    // Anthropic counts what it read from the cache or wrote to it beside the input, not within it.
    input_tokens: usage.inputTokens - usage.cachedInputTokens - cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_creation: { ephemeral_5m_input_tokens: cacheWriteTokens, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
    inference_geo: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  };
}

function contentBlocks({ sequence, text, usage }: WholeReply): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  if (usage.reasoningTokens > 0) {
    blocks.push({ type: 'thinking', thinking: '', signature: `simulated-${sequence}` });
  }
  if (text !== '') blocks.push({ type: 'text', text, citations: null });
  return blocks;
}

function encodeError(kind: ErrorFaultKind, message: string): WireError {
  const [status, type] = ERRORS[kind];
  return { status, body: { type: 'error', error: { type, message }, request_id: null } };
}
