import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { type ErrorFaultKind, ERRORS } from '../faults';
import type { StreamEvent } from '../stream';
import { encodeOpenAiError, openAiMessages, tokenLimit, type WholeReply, type Wire } from './wire';

const chatSchema = z.object({
  model: z.string().min(1),
  messages: openAiMessages,
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
    const { model, messages, max_completion_tokens, max_tokens } = chatSchema.parse(body);
    return { model, messages, maxOutputTokens: max_completion_tokens ?? max_tokens ?? null };
  },
  encodeReply: ({ model, sequence, text, finish, refusal, stated }) => ({
    ...completionOf({ model, sequence }),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: refusal === null ? text : null, refusal },
        finish_reason: CHAT_FINISHES[finish],
      },
    ],
    usage: stated ? encodeChatUsage(stated) : undefined,
  }),
  encodeStream: (reply, pieces, usage) => {
    const { finish, refusal, stated } = reply;
    const completion = { ...completionOf(reply), object: 'chat.completion.chunk' };
    const chunk = (delta: object, finish_reason: string | null = null): StreamEvent => ({
      data: { ...completion, choices: [{ index: 0, delta, finish_reason }], ...(usage && { usage: null }) },
    });
    const deltas = refusal === null ? pieces.map((content) => ({ content })) : [{ refusal }];
    return [
      chunk({ role: 'assistant', content: '' }),
      ...deltas.map((delta) => chunk(delta)),
      chunk({}, CHAT_FINISHES[finish]),
      ...(usage && stated ? [{ data: { ...completion, choices: [], usage: encodeChatUsage(stated) } }] : []),
      { data: '[DONE]' },
    ];
  },
};

function completionOf({ model, sequence }: NumberedReply): object {
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

const responsesSchema = z.object({
  model: z.string().min(1),
  instructions: z.string().nullish(),
  input: z.union([z.string().transform((text): Message[] => [{ role: 'user', text }]), openAiMessages]),
  max_output_tokens: tokenLimit,
  background: z.boolean().nullish(),
});

const CUT_REASONS = { length: 'max_output_tokens', filtered: 'content_filter' } as const;

/** OpenAI Responses (platform.openai.com/docs/api-reference/responses). */
export const openAiResponses: Wire = {
  protocol: 'openai-responses',
  requestIdHeader: 'x-request-id',
  encodeError: encodeOpenAiError,
  decode: (body) => {
    const { model, instructions, input, max_output_tokens, background } = responsesSchema.parse(body);
    return {
      model,
      messages: instructions ? [{ role: 'system', text: instructions }, ...input] : input,
      maxOutputTokens: max_output_tokens ?? null,
      background: background === true || undefined,
    };
  },
  encodeReply: (reply) => encodeResponse(reply),
  encodeStream: (reply, pieces) => numbered(encodeResponseEvents(reply, pieces)),
};

function encodeResponse(reply: WholeReply) {
  const { finish, stated, usage, sequence } = reply;
  const reasoning = { type: 'reasoning', id: `rs_${sequence}`, summary: [] };
  const reason = finish === 'length' || finish === 'filtered' ? CUT_REASONS[finish] : null;
  return {
    ...emptyResponse(reply),
    status: reason === null ? 'completed' : 'incomplete',
    incomplete_details: reason === null ? null : { reason },
    output: [...(usage.reasoningTokens > 0 ? [reasoning] : []), ...messageItems(reply, reason !== null)],
    usage: stated ? encodeUsage(stated) : undefined,
  };
}

/** Returns the events of one response (developers.openai.com/api/reference/resources/responses/streaming-events). */
function encodeResponseEvents(reply: WholeReply, pieces: readonly string[]): [name: string, data: object][] {
  const whole = encodeResponse(reply);
  const begun = { ...emptyResponse(reply), status: 'in_progress' };
  return [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ...whole.output.flatMap((item, output_index) => encodeItem(item, output_index, pieces)),
    [`response.${whole.status}`, { response: whole }],
  ];
}

function encodeItem(item: Item, output_index: number, pieces: readonly string[]): [string, object][] {
  const begun = { ...item, ...(item.content && { content: [], status: 'in_progress' }) };
  return [
    ['response.output_item.added', { output_index, item: begun }],
    ...(item.content ?? []).flatMap((part, content_index): [string, object][] => {
      const place = { item_id: item.id, output_index, content_index };
      const [type, deltas] = 'refusal' in part ? ['refusal', [part.refusal]] : ['output_text', pieces];
      const empty = 'refusal' in part ? { ...part, refusal: '' } : { ...part, text: '' };
      return [
        ['response.content_part.added', { ...place, part: empty }],
        ...deltas.map((delta): [string, object] => [
          `response.${type}.delta`,
          { ...place, delta, logprobs: [] },
        ]),
        [`response.${type}.done`, { ...place, ...part, type: undefined }],
        ['response.content_part.done', { ...place, part }],
      ];
    }),
    ['response.output_item.done', { output_index, item }],
  ];
}

function numbered(events: readonly [name: string, data: object][]): StreamEvent[] {
  return events.map(([name, data], sequence_number) => ({
    name,
    data: { ...data, type: name, sequence_number },
  }));
}

/** Encodes a background response that is unfinished or was cancelled; `usage` if it is billed nevertheless. */
export function encodeUnfinished(
  named: NumberedReply,
  status: 'queued' | 'in_progress' | 'cancelled',
  usage: Usage | null = null,
): WireResponse {
  const billed = usage ? encodeUsage(usage) : undefined;
  return { ...emptyResponse(named), status, background: true, usage: billed };
}

/** Encodes a background response that failed after its start. */
export function encodeFailed(named: NumberedReply, kind: ErrorFaultKind, message: string): object {
  const [, type, code] = ERRORS[kind];
  const error = { code: code ?? type, message };
  return { ...emptyResponse(named), status: 'failed', background: true, error };
}

interface WireResponse {
  readonly id: string;
  readonly [field: string]: unknown;
}

type NumberedReply = Pick<WholeReply, 'model' | 'sequence'>;

function emptyResponse({ model, sequence }: NumberedReply): WireResponse {
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

interface Item {
  readonly type: string;
  readonly id: string;
  readonly role?: string;
  readonly status?: string;
  readonly content?: readonly (
    { readonly type: string; readonly text: string } | { readonly type: string; readonly refusal: string }
  )[];
}

/** Returns the message of a reply; none if the reply was cut before its text. */
function messageItems({ sequence, text, refusal }: WholeReply, isCut: boolean): Item[] {
  if (isCut && text === '') return [];
  const said = { type: 'output_text', text, annotations: [] };
  const content = refusal === null ? said : { type: 'refusal', refusal };
  const status = isCut ? 'incomplete' : 'completed';
  return [{ type: 'message', id: `msg_${sequence}`, role: 'assistant', status, content: [content] }];
}
