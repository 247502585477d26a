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
  textContent,
  tokenLimit,
  type WholeReply,
  type Wire,
} from './wire';

const requestSchema = z.object({
  model: z.string().min(1),
  instructions: z.string().nullish(),
  input: z.union([
    z.string(),
    z
      .array(z.object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content: textContent }))
      .min(1),
  ]),
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
  const turns = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  const messages = turns.map(({ role, content }): Message => ({
    role: role === 'developer' ? 'system' : role,
    text: content,
  }));
  return {
    prompt: {
      model,
      messages: instructions ? [{ role: 'system', text: instructions }, ...messages] : messages,
      maxOutputTokens: max_output_tokens ?? null,
      ...(background === true && { background }),
    },
    stream: stream ?? false,
  };
}

/** `output_text` is no part of the wire: the SDK adds it. */
function encodeReply(reply: WholeReply): Omit<Response, 'output_text'> {
  const { stated } = reply;
  const incomplete = incompleteReason(reply);
  return {
    ...emptyResponse(reply),
    status: incomplete === null ? 'completed' : 'incomplete',
    incomplete_details: incomplete === null ? null : { reason: incomplete },
    output: [...reasoningItems(reply), ...messageItems(reply)],
    ...(stated && { usage: encodeUsage(stated) }),
  };
}

/** A response in the background that is not over, or was given up; `usage` where it is billed all the same. */
export function encodeUnfinished(
  named: Named,
  status: 'queued' | 'in_progress' | 'cancelled',
  usage: Usage | null = null,
): Omit<Response, 'output_text'> {
  return { ...emptyResponse(named), status, background: true, ...(usage && { usage: encodeUsage(usage) }) };
}

/** A response in the background that went wrong after it had been started. */
export function encodeFailed(named: Named, kind: ErrorFaultKind, message: string): object {
  return { ...emptyResponse(named), status: 'failed', background: true, error: lateError(kind, message) };
}

type Named = Pick<WholeReply, 'model' | 'sequence'>;

function emptyResponse({ model, sequence }: Named): Omit<Response, 'output_text'> {
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

function incompleteReason({ finish }: WholeReply): 'max_output_tokens' | 'content_filter' | null {
  if (finish === 'length') return 'max_output_tokens';
  return finish === 'filtered' ? 'content_filter' : null;
}

function reasoningItems({ sequence, usage }: WholeReply): ResponseOutputItem[] {
  return usage.reasoningTokens > 0 ? [{ type: 'reasoning', id: `rs_${sequence}`, summary: [] }] : [];
}

/** A reply that never came to its text has no message at all. */
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
