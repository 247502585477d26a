import type { ChatCompletion } from 'openai/resources/chat/completions';
import { z } from 'zod';
import type { Usage } from '../../protocol/call';
import {
  type Decoded,
  encodeOpenAiError,
  openAiMessages,
  tokenLimit,
  type WholeReply,
  type Wire,
} from './wire';

const requestSchema = z.object({
  model: z.string().min(1),
  messages: openAiMessages,
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
  const { model, messages, max_completion_tokens, max_tokens, stream } = requestSchema.parse(body);
  return {
    model,
    messages,
    maxOutputTokens: max_completion_tokens ?? max_tokens ?? null,
    stream: stream ?? false,
  };
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
    usage: stated ? encodeUsage(stated) : undefined,
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
