import { z } from 'zod';
import type { Usage } from '../../protocol/solve';
import type { StreamEvent } from '../stream';
import {
  checkPaired,
  encodeOpenAiError,
  type Exchanged,
  idsOf,
  inputText,
  openAiMessages,
  refuseRequest,
  tokenLimit,
  wantsThoughts,
  type WholeReply,
  type Wire,
} from './wire';

const NOTHING: Exchanged[] = [];

const chatCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});

const chatMessage = z.union([
  z
    .object({
      role: z.literal('assistant'),
      content: z.string().nullish(),
      reasoning_content: z.string().exactOptional(),
      tool_calls: z.array(chatCall).min(1),
    })
    .transform(({ content, tool_calls: calls, reasoning_content: thoughts }) => {
      // DeepSeek refuses a turn of calls without the thoughts that led to it.
      if (thoughts === undefined && calls.some(({ id }) => wantsThoughts(id))) {
        refuseRequest('Missing `reasoning_content` field in the assistant message.');
      }
      return {
        message: { role: 'assistant' as const, text: content ?? '' },
        exchanged: calls.map(({ id, function: called }): Exchanged => ({
          kind: 'call',
          id,
          name: called.name,
          text: called.arguments,
        })),
      };
    }),
  z
    .object({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() })
    .transform(({ tool_call_id: id, content: text }) => {
      const result: Exchanged = { kind: 'result', id, name: null, text };
      return { message: null, exchanged: [result] };
    }),
  openAiMessages.element.transform((message) => ({ message, exchanged: NOTHING })),
]);

const chatSchema = z.object({
  model: z.string().min(1),
  messages: z.array(chatMessage).min(1),
  tools: z
    .array(z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }))
    .exactOptional(),
  tool_choice: z.string().exactOptional(),
  max_completion_tokens: tokenLimit,
  max_tokens: tokenLimit,
});

const CHAT_FINISHES = { stop: 'stop', length: 'length', refusal: 'stop', filtered: 'content_filter' };

/** OpenAI Chat Completions (platform.openai.com/docs/api-reference/chat). */
export const openAiChat: Wire = {
  protocol: 'openai-chat',
  requestIdHeader: 'x-request-id',
  encodeError: encodeOpenAiError,
  decode: (body) => {
    const {
      model,
      messages: sent,
      tools,
      tool_choice,
      max_completion_tokens,
      max_tokens,
    } = chatSchema.parse(body);
    const messages = sent.flatMap(({ message }) => message ?? []);
    const exchanged = sent.flatMap(({ exchanged: each }) => each);
    checkPaired(exchanged);
    return {
      model,
      messages,
      exchanged,
      tools: tool_choice === 'none' ? undefined : tools?.map((tool) => tool.function.name),
      mustCall: tool_choice === 'required' || undefined,
      maxOutputTokens: max_completion_tokens ?? max_tokens ?? null,
    };
  },
  encodeReply: (reply) => {
    const { text, refusal, stated, thoughts, calls } = reply;
    const content = refusal === null && (text !== '' || calls.length === 0) ? text : null;
    return {
      ...completionOf(reply),
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content,
            refusal,
            ...(thoughts !== '' && { reasoning_content: thoughts }),
            ...(calls.length > 0 && { tool_calls: chatCalls(reply) }),
          },
          finish_reason: chatFinish(reply),
        },
      ],
      usage: stated ? encodeChatUsage(stated) : undefined,
    };
  },
  encodeStream: (reply, pieces, usage) => {
    const { refusal, stated, thoughts } = reply;
    const completion = { ...completionOf(reply), object: 'chat.completion.chunk' };
    const chunk = (delta: object, finish_reason: string | null = null): StreamEvent => ({
      data: { ...completion, choices: [{ index: 0, delta, finish_reason }], ...(usage && { usage: null }) },
    });
    const deltas = refusal === null ? pieces.map((content) => ({ content })) : [{ refusal }];
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(thoughts === '' ? [] : [chunk({ reasoning_content: thoughts })]),
      ...deltas.map((delta) => chunk(delta)),
      ...chatCalls(reply).flatMap(({ function: called, ...call }, index) => {
        const half = Math.floor(called.arguments.length / 2);
        const more = { index, function: { arguments: called.arguments.slice(half) } };
        const first = { index, ...call, function: { ...called, arguments: called.arguments.slice(0, half) } };
        return [chunk({ tool_calls: [first] }), chunk({ tool_calls: [more] })];
      }),
      chunk({}, chatFinish(reply)),
      ...(usage && stated ? [{ data: { ...completion, choices: [], usage: encodeChatUsage(stated) } }] : []),
      { data: '[DONE]' },
    ];
  },
};

function chatCalls(reply: WholeReply) {
  const ids = idsOf('call', reply);
  return reply.calls.map((call, index) => ({
    id: ids[index] ?? undefined,
    type: 'function',
    function: { name: call.name, arguments: inputText(call) },
  }));
}

function chatFinish({ finish, calls }: WholeReply): string {
  return calls.length > 0 && finish === 'stop' ? 'tool_calls' : CHAT_FINISHES[finish];
}

function completionOf({ model, sequence }: WholeReply): object {
  return { id: `chatcmpl-${sequence}`, created: Math.floor(Date.now() / 1000), model };
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
