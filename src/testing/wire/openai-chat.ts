import type { ChatCompletion } from 'openai/resources/chat/completions';
import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/call';
import { type Decoded, encodeOpenAiError, textContent, tokenLimit, type WholeReply, type Wire } from './wire';

const requestSchema = z.object({
  model: z.string().min(1),
  messages: z
    .array(z.object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content: textContent }))
    .min(1),
  max_completion_tokens: tokenLimit,
  max_tokens: tokenLimit,
  stream: z.boolean().nullish(),
});

const FINISH_REASONS = {
  stop: 'stop',
  length: 'length',
  refusal: 'stop',
  filtered: 'content_filter',
} as const;

/** OpenAI Chat Completions (platform.openai.com/docs/api-reference/chat). */
export const openAiChat: Wire = {
  protocol: 'openai-chat',
  requestIdHeader: 'x-request-id',
  decode,
  encodeReply,
  encodeError: encodeOpenAiError,
};

function decode(body: unknown): Decoded {
  const request = requestSchema.parse(body);
  const messages = request.messages.map(({ role, content }): Message => ({
    role: role === 'developer' ? 'system' : role,
    text: content,
  }));
  const maxOutputTokens = request.max_completion_tokens ?? request.max_tokens ?? null;
  return { prompt: { model: request.model, messages, maxOutputTokens }, stream: request.stream ?? false };
}

function encodeReply(reply: WholeReply): ChatCompletion {
  const { model, sequence, text, finish, refusal, stated } = reply;
  return {
    id: `chatcmpl-${sequence}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: refusal === null ? text : null, refusal, annotations: [] },
        finish_reason: FINISH_REASONS[finish],
        logprobs: null,
      },
    ],
    ...(stated && { usage: encodeUsage(stated) }),
    service_tier: 'default',
  };
}

function encodeUsage(usage: Usage): NonNullable<ChatCompletion['usage']> {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
