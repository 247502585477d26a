import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { type ErrorFaultKind, ERRORS } from '../faults';
import type { StreamEvent } from '../stream';
import {
  checkPaired,
  encodeOpenAiError,
  type Exchanged,
  idsOf,
  inputText,
  isSigned,
  openAiMessages,
  refuseRequest,
  sign,
  tokenLimit,
  wantsThoughts,
  type WholeReply,
  type Wire,
} from './wire';

type NumberedReply = Pick<WholeReply, 'model' | 'sequence'>;

function asUser(text: string): Message {
  return { role: 'user', text };
}

const inputItem = z.union([
  openAiMessages.element.transform((message) => ({ message, item: null })),
  z
    .object({
      type: z.literal('function_call'),
      call_id: z.string(),
      name: z.string(),
      arguments: z.string(),
    })
    .transform((item) => ({ message: null, item })),
  z
    .object({ type: z.literal('custom_tool_call'), call_id: z.string(), name: z.string(), input: z.string() })
    .transform(({ input: text, ...item }) => ({ message: null, item: { ...item, arguments: text } })),
  z
    .object({
      type: z.enum(['function_call_output', 'custom_tool_call_output']),
      call_id: z.string(),
      output: z.string(),
    })
    .transform((item) => ({ message: null, item })),
  z
    .object({ type: z.literal('reasoning'), id: z.string(), encrypted_content: z.string() })
    .transform((item) => ({ message: null, item })),
]);

/** @throws z.ZodError for reasoning that was changed, or left out before the call that it led to */
function exchangedIn(input: readonly z.output<typeof inputItem>[]): Exchanged[] {
  let hasThoughts = false;
  return input.flatMap(({ item }): Exchanged[] => {
    if (item === null) return [];
    if (item.type === 'reasoning') {
      hasThoughts = true;
      return isSigned(item.id, item.encrypted_content) ? [] : refuseRequest('invalid_encrypted_content');
    }
    const { call_id: id } = item;
    if ('output' in item) return [{ kind: 'result', id, name: null, text: item.output }];
    if (wantsThoughts(id) && !hasThoughts) refuseRequest('function_call without its reasoning item');
    return [{ kind: 'call', id, name: item.name, text: item.arguments }];
  });
}

const responsesSchema = z.object({
  tools: z
    .array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('function'), name: z.string(), strict: z.boolean() }),
        z.object({ type: z.literal('custom'), name: z.string() }),
      ]),
    )
    .exactOptional(),
  tool_choice: z.string().exactOptional(),
  model: z.string().min(1),
  instructions: z.string().nullish(),
  input: z.union([
    z.string().transform((text) => [{ message: asUser(text), item: null }]),
    z.array(inputItem).min(1),
  ]),
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
    const {
      model,
      instructions,
      input: sent,
      max_output_tokens,
      background,
      ...asked
    } = responsesSchema.parse(body);
    const input = sent.flatMap(({ message }) => message ?? []);
    const exchanged = exchangedIn(sent);
    checkPaired(exchanged);
    return {
      exchanged,
      tools: asked.tool_choice === 'none' ? undefined : asked.tools?.map(({ name }) => name),
      mustCall: asked.tool_choice === 'required' || undefined,
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
  const id = `rs_${sequence}`;
  const encrypted = { encrypted_content: sign(id, sequence) };
  const reasoning = { type: 'reasoning', id, summary: [], ...(reply.thoughts !== '' && encrypted) };
  const hasReasoning = usage.reasoningTokens > 0 || reply.thoughts !== '';
  const reason = finish === 'length' || finish === 'filtered' ? CUT_REASONS[finish] : null;
  return {
    ...emptyResponse(reply),
    status: reason === null ? 'completed' : 'incomplete',
    incomplete_details: reason === null ? null : { reason },
    output: [
      ...(hasReasoning ? [reasoning] : []),
      ...messageItems(reply, reason !== null),
      ...callItems(reply),
    ],
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

function callItems(reply: WholeReply): Item[] {
  const ids = idsOf('call', reply);
  return reply.calls.map((call, index) => ({
    type: call.takesText ? 'custom_tool_call' : 'function_call',
    id: `fc_${reply.sequence}_${index}`,
    ...(ids[index] != null && { call_id: ids[index] }),
    name: call.name,
    [call.takesText ? 'input' : 'arguments']: inputText(call),
    status: 'completed',
  }));
}

function encodeItem(item: Item, output_index: number, pieces: readonly string[]): [string, object][] {
  const begun = {
    ...item,
    ...(item.content && { content: [], status: 'in_progress' }),
    ...(item.arguments !== undefined && { arguments: '', status: 'in_progress' }),
    ...(item.input !== undefined && { input: '', status: 'in_progress' }),
  };
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
  readonly arguments?: string;
  readonly input?: string;
  readonly content?: readonly (
    { readonly type: string; readonly text: string } | { readonly type: string; readonly refusal: string }
  )[];
}

/** Returns the message of a reply; none if the reply was cut before its text. */
function messageItems({ sequence, text, refusal, calls }: WholeReply, isCut: boolean): Item[] {
  if (text === '' && (isCut || calls.length > 0)) return [];
  const said = { type: 'output_text', text, annotations: [] };
  const content = refusal === null ? said : { type: 'refusal', refusal };
  const status = isCut ? 'incomplete' : 'completed';
  return [{ type: 'message', id: `msg_${sequence}`, role: 'assistant', status, content: [content] }];
}
