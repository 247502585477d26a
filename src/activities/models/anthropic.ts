import type { Anthropic } from '@anthropic-ai/sdk' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import {
  chooseSettings,
  type Complete,
  type ListModels,
  makerOf,
  type ModelRequest,
  oneForEachPlace,
  type Settings,
  toConversation,
} from './model';
import type { Part, ToolUse, Turn } from '../../protocol/parts';
import { joined, NO_CONTENT, partContentSchema, partsSchema } from './content';
import { finishOf, StreamEnd } from './ending';
import { partSchema, readReply, tierSchema, tokensSchema, toUsage } from './reply';
import { type Assembly, readModelResponse } from './stream';
import { CallGatherer, plainText, sentBack, turnOf } from './tool-calls';
import { NO_TIMEOUT_MS, sendWith } from './transport';

type Body = Anthropic.MessageCreateParams;
type PromptContent = Anthropic.MessageParam['content'];

const VERSION = '2026-10-21';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

const usageSchema = z
  .object({
    input_tokens: tokensSchema,
    output_tokens: tokensSchema,
    cache_read_input_tokens: partSchema,
    cache_creation_input_tokens: partSchema,
    cache_creation: z.object({ ephemeral_1h_input_tokens: partSchema }).nullish(),
    output_tokens_details: z.object({ thinking_tokens: partSchema }).nullish(),
    service_tier: tierSchema,
  })
  .transform((usage) =>
    toUsage({
      // Anthropic reports cache reads and writes separately from the input, not as part of it.
      inputTokens: usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
      outputTokens: usage.output_tokens,
      cachedInputTokens: usage.cache_read_input_tokens,
      reasoningTokens: usage.output_tokens_details?.thinking_tokens ?? 0,
      cacheWriteTokens: usage.cache_creation_input_tokens,
      hourCacheWriteTokens: usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
      serviceTier: usage.service_tier,
    }),
  );

/** Block of a reply that asks for a tool, or is wanted back as it is. */
const blockSchema = z
  .union([
    z.looseObject({
      type: z.literal('tool_use'),
      id: z.string().nullish().catch(null),
      name: z.string().nullish().catch(null),
      input: z.unknown().optional(),
    }),
    z.looseObject({ type: z.enum(['thinking', 'redacted_thinking']) }),
    z.looseObject({ type: z.literal('text'), text: z.string() }),
  ])
  .nullable()
  .catch(null);

const blocksSchema = z.object({ content: z.array(blockSchema) });

const messageSchema = z.object({
  content: partsSchema,
  stop_reason: z.string().nullish(),
  stop_details: z.object({ explanation: z.string().nullish() }).nullish().catch(null),
  usage: usageSchema.nullish().catch(null),
});

/** Loads the SDK, on first use. */
export const loadAnthropic = (): Promise<unknown> => import('@anthropic-ai/sdk');

export const completeAnthropic: Complete = async (request) => {
  const settings = chooseSettings(request, { lacks: ['seed', 'presencePenalty'], efforts: EFFORTS });
  const client = await openClient(request);
  const { signal } = request;
  const response = await client.messages.create(toBody(request, settings), { signal }).asResponse();
  const body = await readModelResponse(response, request, messageAssembly());
  const message = readReply(messageSchema, body);
  const { content, stop_reason: reason, stop_details: details, usage = null } = message;
  const { text, thoughts } = content;
  return {
    text,
    ...(thoughts !== '' && { thoughts }),
    ...turnOf(request, partsOf(request, blocksSchema.parse(body).content)),
    finish: finishOf(reason, { field: 'stop_reason', usage, room: settings.maxOutputTokens }),
    refusal: details?.explanation ?? null,
    usage,
    reportedNanoUsd: null,
    dropped: settings.dropped,
  };
};

/** Returns a reply's blocks in their order, since signed thoughts stand before what they led to. */
function partsOf({ card }: ModelRequest, blocks: readonly z.output<typeof blockSchema>[]): Part[] {
  return blocks.flatMap((block): Part[] => {
    if (block === null) return [];
    if (block.type === 'text') return block.text === '' ? [] : [{ kind: 'text', text: block.text }];
    if (block.type !== 'tool_use') return [{ kind: 'opaque', madeBy: makerOf(card), block }];
    const gatherer = new CallGatherer();
    gatherer.add(block);
    return gatherer.all.map((call) => ({ kind: 'call', ...call }));
  });
}

const eventSchema = z.object({
  type: z.string(),
  index: z.unknown().optional(),
  message: z.looseObject({ usage: z.looseObject({}).nullish() }).nullish(),
  content_block: partContentSchema,
  delta: z.unknown().optional(),
  usage: z.looseObject({}).nullish(),
});

const endSchema = z.looseObject({ stop_reason: z.string().nullish() }).nullish();

/**
 * Usage counts are cumulative; a missing one keeps its value. The first output count is only a placeholder. The stop
 * reason ends the answer: not every server that speaks this API sends `message_stop`.
 */
function messageAssembly(): Assembly {
  const blocks = new StreamedBlocks();
  let text = '';
  let message: object = {};
  const end = new StreamEnd();
  let begun: object = {};
  let usage: object | null = null;
  let isOver = false;
  return {
    add: (event) => {
      const read = readReply(eventSchema, event);
      const { type, message: first, content_block: block, delta, usage: counted } = read;
      const isEnd = type === 'message_delta';
      if (!isEnd) blocks.take(event);
      const added = joined([block, isEnd ? NO_CONTENT : readReply(partContentSchema, delta)]);
      text += added.text;
      blocks.add(added);
      const ended = isEnd ? readReply(endSchema, delta) : null;
      message = { ...message, ...ended };
      end.take(ended?.stop_reason, added.text + added.thoughts);
      begun = { ...(first?.usage ?? begun), output_tokens: null };
      const known = Object.entries(counted ?? {}).filter(([, count]) => count !== null);
      if (counted) usage = { ...begun, ...usage, ...Object.fromEntries(known) };
      isOver ||= type === 'message_stop';
      return added.text;
    },
    body: () => {
      const hasText = text !== '' || blocks.hasCalls;
      const isReached = end.isReached({ hasEnded: isOver, hasText, usage });
      return isReached ? { ...message, content: blocks.whole, usage } : null;
    },
    isOver: () => isOver,
  };
}

interface StreamedBlock {
  type: string;
  text: string;
  /** Thoughts, arguments or a signature, which come in pieces, and whatever else a block begins with. */
  readonly fields: Record<string, unknown>;
}

const startSchema = z.object({
  index: z.unknown().optional(),
  content_block: z.looseObject({ type: z.string() }).nullish().catch(null),
  delta: z.looseObject({ partial_json: z.string(), signature: z.string() }).partial().nullish().catch(null),
});

/** Adds a piece of the arguments, which replaces those that a block begins with, or the signature. */
function extend(
  fields: StreamedBlock['fields'],
  { partial_json: json, signature }: NonNullable<z.output<typeof startSchema>['delta']>,
): void {
  if (json !== undefined) fields.input = (typeof fields.input === 'string' ? fields.input : '') + json;
  if (signature !== undefined) fields.signature = signature;
}

/** Blocks of a stream in the order in which they begin. A text or a thought needs no beginning: relays leave it out. */
class StreamedBlocks {
  private readonly blocks: StreamedBlock[] = [];
  private readonly byIndex = new Map<unknown, StreamedBlock>();
  private current: StreamedBlock | undefined;
  hasCalls = false;

  /** Notes to which block an event belongs, and what of it is neither text nor thoughts. */
  take(event: object): void {
    const { index, content_block: begun, delta } = startSchema.parse(event);
    if (begun) {
      const { type, ...fields } = begun;
      this.current = this.begin(type, fields);
      this.byIndex.set(index, this.current);
      this.hasCalls ||= type === 'tool_use';
    } else if (delta) this.current = this.byIndex.get(index) ?? this.current;
    if (this.current && delta) extend(this.current.fields, delta);
  }

  add({ text, thoughts }: { readonly text: string; readonly thoughts: string }): void {
    if (thoughts !== '') this.blockOf('thinking').text += thoughts;
    if (text !== '') this.blockOf('text').text += text;
  }

  get whole(): readonly object[] {
    return this.blocks.map(({ type, text, fields }) => {
      if (type === 'text') return { type, text };
      return type === 'thinking' ? { ...fields, type, thinking: text } : { ...fields, type };
    });
  }

  private blockOf(type: 'thinking' | 'text'): StreamedBlock {
    if (this.current?.type !== type) this.current = this.begin(type, {});
    return this.current;
  }

  private begin(type: string, fields: StreamedBlock['fields']): StreamedBlock {
    const block = { type, text: '', fields: { ...fields } };
    this.blocks.push(block);
    return block;
  }
}

const openClient = oneForEachPlace(async ({ card, apiKey }) => {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({
    baseURL: card.baseUrl,
    apiKey: apiKey ?? 'none',
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    fetch: sendWith(
      { Authorization: apiKey === null ? null : `Bearer ${apiKey}`, 'Anthropic-Version': VERSION },
      { proxy: card.proxy },
    ),
    logLevel: 'off',
    openTelemetry: false,
  });
});

export const listAnthropic: ListModels = async (place) => {
  const { data } = await (await openClient(place)).models.list({ limit: 1000 }, { signal: place.signal });
  return data.map(({ id }) => id);
};

/** Smallest prefix that any model caches, in tokens; used for characters, since a token has at least one. */
const LEAST_KEPT = 1024;

/**
 * Converts the turns. If caching the shared prefix pays, splits the turn in which it ends into two blocks. A cache
 * write costs a quarter more than other input: it pays if its price is known and one read saves more than that.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
function toMessages(request: ModelRequest): Anthropic.MessageParam[] {
  const { card, sharedCharacters = 0 } = request;
  let left = sharedCharacters < LEAST_KEPT || !paysOff(card) ? 0 : sharedCharacters;
  return toConversation(request).turns.map((turn) => {
    const { role } = turn;
    const text = plainText(turn);
    if (text === null) return { role, content: turn.parts.map(toBlock) };
    const content = left > 0 && left <= text.length ? inTwoBlocks(text, left) : text;
    left -= text.length;
    return { role, content };
  });
}

function toBlock(part: Turn['parts'][number]): Anthropic.ContentBlockParam {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'call':
      return { type: 'tool_use', id: part.id, name: part.name, input: sentBack(part) };
    case 'result':
      return { type: 'tool_result', tool_use_id: part.id, content: part.text, is_error: part.isError };
    case 'opaque':
      return part.block as unknown as Anthropic.ThinkingBlockParam;
  }
}

function inTwoBlocks(text: string, length: number): PromptContent {
  const [shared, own] = [text.slice(0, length), text.slice(length)];
  return [
    { type: 'text', text: shared, cache_control: { type: 'ephemeral' } },
    ...(own === '' ? [] : [{ type: 'text' as const, text: own }]),
  ];
}

function paysOff({ price }: ModelRequest['card']): boolean {
  const { input = 0, cachedInput = input, cacheWrite } = price ?? {};
  return cacheWrite !== undefined && input - cachedInput > cacheWrite - input;
}

function toBody(request: ModelRequest, settings: Settings<(typeof EFFORTS)[number]>): Body {
  const { card, toolUse } = request;
  const { system } = toConversation(request);
  const { temperature, topP, topK, effort, thinking, outputSchema, maxOutputTokens } = settings;
  const sampling = { temperature, top_p: topP, top_k: topK };
  const format = outputSchema && { type: 'json_schema' as const, schema: outputSchema.schema };
  return {
    model: card.model,
    max_tokens: maxOutputTokens,
    ...(card.idleTimeoutMs !== undefined && { stream: true }),
    system: system || undefined,
    messages: toMessages(request),
    ...sampling,
    thinking: thinking === undefined ? undefined : thinkingOf(thinking),
    output_config: effort || format ? { effort, format } : undefined,
    ...(toolUse && toolsOf(toolUse, thinking)),
    ...card.extraBody,
  };
}

function toolsOf(
  { tools, mayCall, mustCall }: ToolUse,
  thinking: number | undefined,
): Pick<Body, 'tools' | 'tool_choice'> {
  return {
    tools: tools.map(({ name, description, input }) => ({
      name,
      description,
      input_schema: { ...input, type: 'object' as const },
    })),
    ...(!mayCall && { tool_choice: { type: 'none' } }),
    // Anthropic refuses a forced call beside a budget of thoughts.
    ...(mustCall && !thinking && { tool_choice: { type: 'any' } }),
  };
}

function thinkingOf(budget: number): Anthropic.ThinkingConfigParam {
  return budget === 0 ? { type: 'disabled' } : { type: 'enabled', budget_tokens: budget };
}
