import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
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

const chatSchema = z.object({
  model: z.string().min(1),
  messages: openAiMessages,
  max_completion_tokens: tokenLimit,
  max_tokens: tokenLimit,
  stream: z.boolean().nullish(),
});

const CHAT_FINISHES = {
  stop: 'stop',
  length: 'length',
  refusal: 'stop',
  filtered: 'content_filter',
} as const;

/** OpenAI Chat Completions (platform.openai.com/docs/api-reference/chat). */
export const openAiChat: Wire = {
  protocol: 'openai-chat',
  requestIdHeader: 'x-request-id',
  decode: decodeChat,
  encodeReply: encodeChat,
  encodeError: encodeOpenAiError,
};

function decodeChat(body: unknown): Decoded {
  const { model, messages, max_completion_tokens, max_tokens, stream } = chatSchema.parse(body);
  return {
    model,
    messages,
    maxOutputTokens: max_completion_tokens ?? max_tokens ?? null,
    stream: stream ?? false,
  };
}

function encodeChat(reply: WholeReply): object {
  const { model, sequence, text, finish, refusal, stated } = reply;
  return {
    id: `chatcmpl-${sequence}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: refusal === null ? text : null, refusal },
        finish_reason: CHAT_FINISHES[finish],
      },
    ],
    usage: stated ? encodeChatUsage(stated) : undefined,
  };
}

function encodeChatUsage(usage: Usage): object {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

const responsesSchema = z.object({
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
  decode: decodeResponses,
  encodeReply: encodeResponse,
  encodeError: encodeOpenAiError,
};

function decodeResponses(body: unknown): Decoded {
  const { model, instructions, input, max_output_tokens, stream, background } = responsesSchema.parse(body);
  return {
    model,
    messages: instructions ? [{ role: 'system', text: instructions }, ...input] : input,
    maxOutputTokens: max_output_tokens ?? null,
    background: background === true || undefined,
    stream: stream ?? false,
  };
}

function encodeResponse(reply: WholeReply): object {
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
  const billed = usage ? encodeUsage(usage) : undefined;
  return { ...emptyResponse(named), status, background: true, usage: billed };
}

/** A response in the background that went wrong after it had been started. */
export function encodeFailed(named: Named, kind: ErrorFaultKind, message: string): object {
  return { ...emptyResponse(named), status: 'failed', background: true, error: lateError(kind, message) };
}

interface WireResponse {
  readonly id: string;
  readonly [field: string]: unknown;
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
  };
}

function encodeUsage(usage: Usage): object {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cachedInputTokens, cache_write_tokens: 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

function reasoningItems({ sequence, usage }: WholeReply): object[] {
  return usage.reasoningTokens > 0 ? [{ type: 'reasoning', id: `rs_${sequence}`, summary: [] }] : [];
}

/** A reply that was cut before its text has no message at all. */
function messageItems({ sequence, text, finish, refusal }: WholeReply): object[] {
  const cut = finish === 'length' || finish === 'filtered';
  if (cut && text === '') return [];
  const content =
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
