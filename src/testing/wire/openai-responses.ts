import type {
  Response,
  ResponseOutputItem,
  ResponseOutputRefusal,
  ResponseOutputText,
} from 'openai/resources/responses/responses';
import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/call';
import type { ErrorFaultKind } from '../faults';
import {
  type Decoded,
  encodeOpenAiError,
  lateError,
  openAiMessages,
  tokenLimit,
  type WholeReply,
  type Wire,
} from './wire';

const requestSchema = z.object({
  model: z.string().min(1),
  instructions: z.string().nullish(),
  input: z.union([z.string().transform((text): Message[] => [{ role: 'user', text }]), openAiMessages]),
  max_output_tokens: tokenLimit,
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
});

/** OpenAI Responses (platform.openai.com/docs/api-reference/responses). */
export const openAiResponses: Wire = {
  protocol: 'openai-responses',
  requestIdHeader: 'x-request-id',
  decode,
  encodeReply,
  encodeError: encodeOpenAiError,
};

function decode(body: unknown): Decoded {
  const { model, instructions, input, max_output_tokens, stream, background } = requestSchema.parse(body);
  return {
    model,
    messages: instructions ? [{ role: 'system', text: instructions }, ...input] : input,
    maxOutputTokens: max_output_tokens ?? null,
    background: background === true || undefined,
    stream: stream ?? false,
  };
}

/** Response on the wire: the SDK adds `output_text`. */
type WireResponse = Omit<Response, 'output_text'>;

function encodeReply(reply: WholeReply): WireResponse {
  const { finish, stated } = reply;
  const reasons = {
    stop: null,
    refusal: null,
    length: 'max_output_tokens',
    filtered: 'content_filter',
  } as const;
  const reason = reasons[finish];
  return {
    ...emptyResponse(reply),
    status: reason === null ? 'completed' : 'incomplete',
    incomplete_details: reason === null ? null : { reason },
    output: [...reasoningItems(reply), ...messageItems(reply)],
    usage: stated ? encodeUsage(stated) : undefined,
  };
}

/** A response in the background that is not finished, or was cancelled; `usage` where it is billed all the same. */
export function encodeUnfinished(
  named: Named,
  status: 'queued' | 'in_progress' | 'cancelled',
  usage: Usage | null = null,
): WireResponse {
  return {
    ...emptyResponse(named),
    status,
    background: true,
    usage: usage ? encodeUsage(usage) : undefined,
  };
}

/** A response in the background that went wrong after it had been started. */
export function encodeFailed(named: Named, kind: ErrorFaultKind, message: string): object {
  return { ...emptyResponse(named), status: 'failed', background: true, error: lateError(kind, message) };
}

type Named = Pick<WholeReply, 'model' | 'sequence'>;

function emptyResponse({ model, sequence }: Named): WireResponse {
  return {
    id: `resp_${sequence}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    incomplete_details: null,
    error: null,
    model,
    output: [],
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
  };
}

function encodeUsage(usage: Usage): NonNullable<Response['usage']> {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

function reasoningItems({ sequence, usage }: WholeReply): ResponseOutputItem[] {
  return usage.reasoningTokens > 0 ? [{ type: 'reasoning', id: `rs_${sequence}`, summary: [] }] : [];
}

/** A reply that was cut before its text has no message at all. */
function messageItems({ sequence, text, finish, refusal }: WholeReply): ResponseOutputItem[] {
  const cut = finish === 'length' || finish === 'filtered';
  if (cut && text === '') return [];
  const content: ResponseOutputText | ResponseOutputRefusal =
    refusal === null ? { type: 'output_text', text, annotations: [] } : { type: 'refusal', refusal };
  return [
    {
      type: 'message',
      id: `msg_${sequence}`,
      role: 'assistant',
      status: cut ? 'incomplete' : 'completed',
      content: [content],
    },
  ];
}
