import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { type ErrorFaultKind, ERRORS } from '../faults';
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

function encodeReply(reply: WholeReply): object {
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
  };
}

function encodeUsage(usage: Usage): object {
  const { cacheWriteTokens = 0 } = usage;
  return {
    // Anthropic counts what it read from the cache or wrote to it beside the input, not within it.
    input_tokens: usage.inputTokens - usage.cachedInputTokens - cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_creation: { ephemeral_5m_input_tokens: cacheWriteTokens, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
  };
}

function contentBlocks({ sequence, text, usage }: WholeReply): object[] {
  const thinking = { type: 'thinking', thinking: '', signature: `simulated-${sequence}` };
  return [
    ...(usage.reasoningTokens > 0 ? [thinking] : []),
    ...(text === '' ? [] : [{ type: 'text', text, citations: null }]),
  ];
}

function encodeError(kind: ErrorFaultKind, message: string): WireError {
  const [status, , , type] = ERRORS[kind];
  return {
    status: kind === 'quota-exceeded' ? 402 : status,
    body: { type: 'error', error: { type, message }, request_id: null },
  };
}
