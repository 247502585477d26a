import { z } from 'zod';
import type { Message } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import { ERRORS } from '../faults';
import type { StreamEvent } from '../stream';
import {
  checkPaired,
  type Exchanged,
  idsOf,
  inputText,
  isSigned,
  refuseRequest,
  sign,
  wantsThoughts,
  type WholeReply,
  type Prompt,
  type Wire,
} from './wire';

const textBlock = z.object({ text: z.string().min(1), cache_control: z.looseObject({}).exactOptional() });
const content = z.union([z.string().transform((text) => [{ text }]), z.array(textBlock)]);

const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});
const toolResult = z.object({ type: z.literal('tool_result'), tool_use_id: z.string(), content: z.string() });
const thought = z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });

const blocks = z.union([
  z.string().transform((text) => [{ text }]),
  z.array(z.union([toolUse, toolResult, thought, textBlock])),
]);
type Sent = z.output<typeof blocks>[number];

const requestSchema = z.object({
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  system: content.exactOptional(),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant', 'system']), content: blocks })).min(1),
  tools: z
    .array(z.object({ name: z.string(), input_schema: z.looseObject({ type: z.literal('object') }) }))
    .exactOptional(),
  tool_choice: z.object({ type: z.string() }).exactOptional(),
  thinking: z.looseObject({ type: z.string() }).exactOptional(),
});

const STOP_REASONS = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', filtered: 'refusal' };

type Asked = z.output<typeof requestSchema>;

function offered(tools: Asked['tools'], choice: Asked['tool_choice']): Pick<Prompt, 'tools' | 'mustCall'> {
  const names = choice?.type === 'none' ? undefined : tools?.map(({ name }) => name);
  return { tools: names, mustCall: choice?.type === 'any' || undefined };
}

function refuseForced(choice: Asked['tool_choice'], thinking: Asked['thinking']): void {
  if (choice?.type === 'any' && thinking?.type === 'enabled') {
    refuseRequest('Thinking may not be enabled when tool_choice forces tool use.');
  }
}

/** Anthropic Messages (docs.claude.com/en/api/messages and /en/api/errors). */
export const anthropic: Wire = {
  protocol: 'anthropic',
  requestIdHeader: 'request-id',
  decode: (body) => {
    const { model, max_tokens, system, messages, tools, tool_choice, thinking } = requestSchema.parse(body);
    const turns = messages.map(({ role, content }): Message => ({
      role,
      text: joined(textsIn(content), ''),
    }));
    const blocks = [...(system ?? []), ...messages.flatMap(({ content }) => textsIn(content))];
    const exchanged = messages.flatMap(({ content }) => exchangedIn(content));
    checkPaired(exchanged);
    if (exchanged.length > 0 && tools === undefined) refuseRequest('Requests with tool_use need tools.');
    refuseForced(tool_choice, thinking);
    const kept = blocks.slice(0, blocks.findLastIndex((block) => 'cache_control' in block) + 1);
    return {
      model,
      messages: system === undefined ? turns : [{ role: 'system', text: joined(system, '') }, ...turns],
      maxOutputTokens: max_tokens,
      keptPrefix: joined(kept, '\n') || undefined,
      ...offered(tools, tool_choice),
      exchanged,
    };
  },
  encodeReply: (reply) => encodeMessage(reply),
  encodeStream: (reply, pieces) => {
    const { content, stop_reason, stop_sequence, stop_details, ...message } = encodeMessage(reply);
    const { usage = null } = message;
    const blocks = content.map((block, index) => encodeBlock(block, index, pieces));
    return [
      // The output token count is a placeholder at this point.
      event('message_start', {
        message: { ...message, content: [], usage: usage && { ...usage, output_tokens: 1 } },
      }),
      event('ping', {}),
      ...blocks.flat(),
      event('message_delta', {
        delta: { stop_reason, stop_sequence, stop_details },
        usage: usage && {
          output_tokens: usage.output_tokens,
          output_tokens_details: usage.output_tokens_details,
        },
      }),
      event('message_stop', {}),
    ];
  },
  encodeError: (kind, message) => {
    const [status, , , type] = ERRORS[kind];
    return {
      status: kind === 'quota-exceeded' ? 402 : status,
      body: { type: 'error', error: { type, message }, request_id: null },
    };
  },
};

function textsIn(content: readonly Sent[]): z.output<typeof textBlock>[] {
  return content.filter((block) => 'text' in block);
}

/** @throws z.ZodError for thoughts that were changed, or left out before the calls that they led to */
function exchangedIn(content: readonly Sent[]): Exchanged[] {
  let hasThoughts = false;
  return content.flatMap((block): Exchanged[] => {
    if ('text' in block) return [];
    if (block.type === 'thinking') {
      hasThoughts = true;
      if (isSigned(block.thinking, block.signature)) return [];
      return refuseRequest('messages: Invalid `signature` in `thinking` block');
    }
    if (block.type === 'tool_result') {
      return [{ kind: 'result', id: block.tool_use_id, name: null, text: block.content }];
    }
    const { id, name, input } = block;
    if (wantsThoughts(id) && !hasThoughts) {
      return refuseRequest('messages: Expected `thinking` before `tool_use`');
    }
    return [{ kind: 'call', id, name, text: JSON.stringify(input) }];
  });
}

function encodeMessage(reply: WholeReply) {
  const { model, sequence, text, finish, refusal, usage, stated, thoughts, calls } = reply;
  const thinking = { type: 'thinking', thinking: thoughts, signature: sign(thoughts, sequence) };
  const ids = idsOf('toolu', reply);
  const uses = calls.map(({ name, input }, index) => ({
    type: 'tool_use',
    id: ids[index] ?? undefined,
    name,
    input,
  }));
  const declined = finish === 'refusal' || finish === 'filtered';
  return {
    id: `msg_${sequence}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(usage.reasoningTokens > 0 || thoughts !== '' ? [thinking] : []),
      ...(text === '' ? [] : [{ type: 'text', text, citations: null }]),
      ...uses,
    ],
    stop_reason: calls.length > 0 && finish === 'stop' ? 'tool_use' : STOP_REASONS[finish],
    stop_sequence: null,
    stop_details: declined ? { type: 'refusal', category: null, explanation: refusal } : null,
    usage: stated ? encodeUsage(stated) : undefined,
  };
}

type Block = ReturnType<typeof encodeMessage>['content'][number];

function encodeBlock(block: Block, index: number, pieces: readonly string[]): StreamEvent[] {
  const [begun, deltas] = piecesOfBlock(block, pieces);
  return [
    event('content_block_start', { index, content_block: begun }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
}

function piecesOfBlock(block: Block, pieces: readonly string[]): [begun: object, deltas: object[]] {
  if ('text' in block) return [{ ...block, text: '' }, pieces.map((text) => ({ type: 'text_delta', text }))];
  if ('name' in block) {
    const json = inputText(block);
    const half = Math.floor(json.length / 2);
    const parts = [json.slice(0, half), json.slice(half)];
    return [
      { ...block, input: {} },
      parts.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    ];
  }
  const { thinking, signature } = block;
  const told = thinking === '' ? [] : [{ type: 'thinking_delta', thinking }];
  return [{ ...block, thinking: '', signature: '' }, [...told, { type: 'signature_delta', signature }]];
}

function event(name: string, data: object): StreamEvent {
  return { name, data: { type: name, ...data } };
}

function joined(blocks: readonly { readonly text: string }[], between: string): string {
  return blocks.map(({ text }) => text).join(between);
}

function encodeUsage(usage: Usage) {
  const { cacheWriteTokens = 0 } = usage;
  return {
    // Anthropic counts tokens read from or written to the cache besides the input tokens, not among them.
    input_tokens: usage.inputTokens - usage.cachedInputTokens - cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_creation: { ephemeral_5m_input_tokens: cacheWriteTokens, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.outputTokens,
    output_tokens_details: { thinking_tokens: usage.reasoningTokens },
  };
}
