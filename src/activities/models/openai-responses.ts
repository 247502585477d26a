import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import type { TextFormat } from '../../protocol/caller-tools';
import {
  type CallPart,
  freeTextArguments,
  freeTextIn,
  type OfferedTool,
  type Part,
  type Turn,
} from '../../protocol/parts';
import { FAILURES } from '../../protocol/failures';
import { diagnose, type Diagnosis, diagnoseReported } from './diagnose';
import { saidIn } from './failures/said';
import {
  chooseSettings,
  isStrict,
  makerOf,
  type ModelReply,
  type ModelRequest,
  type Progress,
  toConversation,
} from './model';
import { CallGatherer, plainText, sentBack, turnOf } from './tool-calls';
import { type Content, replyContentSchema, joined, NO_CONTENT, thoughtsIn } from './content';
import { finishOf } from './ending';
import { readReply, refuseReported, ReportedFailure, tierSchema } from './reply';
import { type Assembly, failedMidway, readModelResponse } from './stream';
import { responsesUsageSchema, usageOf, USUAL_TIER } from './openai-usage';

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;

export const OPENAI_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Header with an id to search for in the logs of OpenAI, or of a gateway in front of it. */
export const REQUEST_ID = 'X-Client-Request-Id';

/** Returns the options of one request. Without an id, null keeps the SDK from sending one from its environment. */
export function optionsFor({ signal, callId = null }: CallOptions): OpenAI.RequestOptions {
  return { signal, headers: { [REQUEST_ID]: callId } };
}

interface CallOptions {
  readonly signal: AbortSignal;
  readonly callId?: string | null | undefined;
}

/** Message of the answer. One in the phase `commentary` is what the model says while it works. */
const messageSchema = z
  .object({ type: z.literal('message'), phase: z.string().nullish(), content: replyContentSchema })
  .transform(({ phase, content }): Content => {
    if (phase !== COMMENTARY) return content;
    return { ...content, text: '', thoughts: content.thoughts + content.text };
  });

const COMMENTARY = 'commentary';

/** Item of reasoning, in full or as a summary, or a call of a tool, which has no text. */
const otherItemSchema = z
  .looseObject({ type: z.string().refine((type) => type !== 'message') })
  .transform((item) => ({
    ...NO_CONTENT,
    thoughts: item.type === 'reasoning' ? thoughtsIn(item) : '',
    item,
  }));

const calledSchema = {
  call_id: z.string().nullish().catch(null),
  name: z.string().nullish().catch(null),
};

const callItemSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('function_call'), ...calledSchema, arguments: z.unknown().optional() }),
  z.object({ type: z.literal('custom_tool_call'), ...calledSchema, input: z.string() }),
]);

const itemSchema = z.union([messageSchema, otherItemSchema]);

const responseSchema = z.object({
  /** Some servers have none: they answer at once, and only what is whole. */
  status: z.string().nullish(),
  output: z.array(itemSchema),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  service_tier: tierSchema,
  usage: responsesUsageSchema.nullish().catch(null),
});

/** Sends one request to the Responses API. The vendor stores nothing (`store: false`): the run keeps its own texts. */
export async function completeResponse(client: OpenAI, request: ModelRequest): Promise<ModelReply> {
  const { body, ...sent } = bodyOf(request);
  const stream = request.card.idleTimeoutMs !== undefined;
  // Read here, since the SDK fails on a body that is no response before we can report it.
  const response = await client.responses
    .create({ ...body, store: false, ...(stream && { stream }) }, optionsFor(request))
    .asResponse();
  const whole = readReply(responseSchema, await readModelResponse(response, request, responseAssembly()));
  if (!ENDED.has(whole.status ?? 'completed')) throw failedMidway(`status is ${whole.status ?? ''}`);
  return replyOf(whole, request, sent);
}

const ENDED = new Set(['completed', 'incomplete']);

const eventSchema = z.object({
  type: z.string(),
  delta: z.unknown().optional(),
  output_index: z.unknown().optional(),
  item: z.looseObject({ phase: z.unknown().optional() }).nullish(),
  response: z.looseObject({ output: z.array(z.unknown()).nullish() }).nullish(),
});

const LAST_EVENTS: Readonly<Partial<Record<string, string>>> = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
};

/** The last event holds the whole response. Some relays leave out its items, which have arrived before. */
function responseAssembly(): Assembly {
  const items = new Map<unknown, unknown>();
  let last: object | null = null;
  return {
    add: (event) => {
      const { type, delta, output_index: index, item, response } = readReply(eventSchema, event);
      if (item) items.set(index, item);
      const status = LAST_EVENTS[type];
      if (status !== undefined) {
        const output = response?.output?.length === 0 ? [...items.values()] : response?.output;
        last = { ...response, output, status };
      }
      if (type !== 'response.output_text.delta' || typeof delta !== 'string') return '';
      return phaseOf(items.get(index)) === COMMENTARY ? '' : delta;
    },
    body: () => last,
    isOver: () => last !== null,
  };
}

function phaseOf(item: unknown): unknown {
  return (Object(item) as { readonly phase?: unknown }).phase;
}

function replyOf(
  response: Omit<z.output<typeof responseSchema>, 'error'>,
  request: ModelRequest,
  { dropped, room }: Sent,
): ModelReply {
  const { text, thoughts, refusal } = joined(response.output);
  const charged = usageOf(response);
  const named = response.incomplete_details?.reason ?? '';
  const reason = named === '' && response.status === 'incomplete' ? 'length' : named;
  const ended = { field: 'incomplete_details', usage: charged.usage, room };
  const finish = refusal === '' ? finishOf(reason, ended) : 'refusal';
  return {
    text,
    ...(thoughts !== '' && { thoughts }),
    ...turnOf(request, partsOf(request, response.output, finish)),
    finish,
    refusal: refusal || null,
    ...charged,
    dropped,
  };
}

/** Returns a reply's items in their order. Reasoning without its encrypted content could not be sent back. */
function partsOf(
  { card }: ModelRequest,
  output: readonly z.output<typeof itemSchema>[],
  finish: ModelReply['finish'],
): Part[] {
  return output.flatMap((content): Part[] => {
    if (content.text !== '') return [{ kind: 'text', text: content.text }];
    if (!('item' in content)) return [];
    const { item } = content;
    if (item.type === 'reasoning' && typeof item.encrypted_content === 'string') {
      return [{ kind: 'opaque', madeBy: makerOf(card), block: item }];
    }
    const call = callItemSchema.safeParse(item).data;
    if (call === undefined) return [];
    const gatherer = new CallGatherer();
    // Nothing in a text shows that it was cut.
    const input =
      call.type === 'function_call' ? call.arguments : freeTextArguments(call.input, finish === 'length');
    gatherer.add({ id: call.call_id, name: call.name, input });
    return gatherer.all.map((each) => ({ kind: 'call', ...each }));
  });
}

interface Sent {
  /** Settings that were left out. */
  readonly dropped: readonly string[];
  /** Output tokens that the request allows. */
  readonly room: number;
}

/** Returns the body without `store`. */
function bodyOf(request: ModelRequest): Sent & { readonly body: Body } {
  const { card, toolUse } = request;
  const { system, turns } = toConversation(request);
  const texts = textToolsOf(request);
  const settings = chooseSettings(request, {
    lacks: ['topK', 'presencePenalty', 'seed'],
    efforts: OPENAI_EFFORTS,
  });
  const { temperature, topP, effort, outputSchema, maxOutputTokens, dropped } = settings;
  const body: Body = {
    model: card.model,
    instructions: system || undefined,
    input: turns.flatMap((turn) => toItems(turn, texts)),
    max_output_tokens: maxOutputTokens,
    ...(card.baseUrl === null && { service_tier: USUAL_TIER }),
    temperature,
    top_p: topP,
    reasoning: effort && { effort },
    text: outputSchema && {
      format: {
        type: 'json_schema',
        name: outputSchema.name,
        schema: outputSchema.schema,
        strict: isStrict(outputSchema),
      },
    },
    ...(toolUse && {
      tools: toolUse.tools.map((tool) => toTool(tool, texts)),
      ...(!toolUse.mayCall && { tool_choice: 'none' as const }),
      ...(toolUse.mustCall && { tool_choice: 'required' as const }),
      // Nothing is stored at the vendor, so reasoning comes back here, and goes there again with its call.
      include: ['reasoning.encrypted_content' as const],
    }),
    ...card.extraBody,
  };
  return { body, dropped, room: maxOutputTokens };
}

type TextTools = ReadonlyMap<string, TextFormat>;

/** Returns the tools that the model gives a text. All others are functions. */
function textToolsOf({ card, toolUse }: ModelRequest): TextTools {
  const tools = card.capabilities.textTools === true ? (toolUse?.tools ?? []) : [];
  return new Map(tools.flatMap(({ name, format }) => (format === undefined ? [] : [[name, format]])));
}

function toTool({ name, description, input }: OfferedTool, texts: TextTools): OpenAI.Responses.Tool {
  const format = texts.get(name);
  return format === undefined
    ? { type: 'function', name, description, parameters: { ...input }, strict: false }
    : { type: 'custom', name, description, format };
}

/** Returns the items of a turn, in its order: reasoning stands before the call that it led to. */
function toItems(turn: Turn, texts: TextTools): OpenAI.Responses.ResponseInputItem[] {
  const { role, parts } = turn;
  const text = plainText(turn);
  if (text !== null) return [{ role, content: text }];
  return parts.map((part): OpenAI.Responses.ResponseInputItem => {
    switch (part.kind) {
      case 'text':
        return { role, content: part.text };
      case 'call':
        return toCall(part, texts);
      case 'result': {
        const type = texts.has(part.name) ? 'custom_tool_call_output' : 'function_call_output';
        return { type, call_id: part.id, output: part.text };
      }
      case 'opaque':
        return part.block as unknown as OpenAI.Responses.ResponseReasoningItem;
    }
  });
}

function toCall(call: CallPart, texts: TextTools): OpenAI.Responses.ResponseInputItem {
  const { id: call_id, name, input } = call;
  return texts.has(name)
    ? { type: 'custom_tool_call', call_id, name, input: freeTextIn(input) }
    : { type: 'function_call', call_id, name, arguments: JSON.stringify(sentBack(call)) };
}

const backgroundSchema = responseSchema.extend({
  id: z.string().min(1).max(1000),
  output: responseSchema.shape.output.nullish().transform((output) => output ?? []),
  error: z.object({ message: z.string(), code: z.string().nullish() }).nullish(),
});

type Background = z.output<typeof backgroundSchema>;

/** Reads a response in the background. One that failed has an id; any other failure is no response. */
async function readBackground(response: Response): Promise<Background> {
  const body: unknown = await response.json();
  if (!('id' in Object(body))) refuseReported(body);
  return readReply(backgroundSchema, body);
}

const UNFINISHED = new Set<unknown>(['queued', 'in_progress']);

/**
 * Starts a response in OpenAI's background mode (developers.openai.com/api/docs/guides/background) and returns its id
 * at once. Without `store: true` an answer is deleted after some ten minutes; a lost worker may need longer.
 */
export async function beginResponse(
  client: OpenAI,
  request: ModelRequest,
): Promise<{ id: string; progress: Progress }> {
  const { body, ...sent } = bodyOf(request);
  const response = await client.responses
    .create({ ...body, background: true, store: true }, optionsFor(request))
    .asResponse();
  const read = await readBackground(response);
  return { id: read.id, progress: progressOf(read, request, sent) };
}

export async function lookAtResponse(client: OpenAI, request: ModelRequest, id: string): Promise<Progress> {
  try {
    const response = await client.responses.retrieve(id, {}, optionsFor(request)).asResponse();
    return progressOf(await readBackground(response), request, bodyOf(request));
  } catch (error) {
    if (diagnose(error).type !== FAILURES.notFound) throw error;
    return { status: 'failed', reply: null, diagnosis: LOST };
  }
}

/** Cancels a response. According to the guide, cancelling a finished one changes nothing and returns it as it is. */
export async function cancelResponse(client: OpenAI, request: ModelRequest, id: string): Promise<Progress> {
  const response = await client.responses.cancel(id, optionsFor(request)).asResponse();
  return progressOf(await readBackground(response), request, bodyOf(request));
}

const CANCELLED: Diagnosis = {
  type: FAILURES.interrupted,
  happened: 'had its answer cancelled by another client',
  reason: '',
};
const LOST: Diagnosis = {
  type: FAILURES.interrupted,
  happened: 'no longer has the answer that it started',
  reason: '',
  remedy: 'Answers are kept there for a limited time; the call may have been billed.',
};

function progressOf(response: Background, request: ModelRequest, sent: Sent): Progress {
  const { status, error } = response;
  if (UNFINISHED.has(status)) return { status: 'running' };
  const reply = replyOf(response, request, sent);
  if (status === 'cancelled') return { status: 'failed', reply, diagnosis: CANCELLED };
  if (status !== 'failed' && !error) return { status: 'answered', reply };
  return { status: 'failed', reply, diagnosis: diagnoseFailed(error, reply) };
}

/** Diagnoses an answer that the vendor gave up. Temporal must not retry one that was billed after all. */
function diagnoseFailed(error: Background['error'], { usage }: ModelReply): Diagnosis {
  const said = saidIn({ error });
  const happened = 'failed while it wrote its answer';
  if (usage === null && error?.code === 'server_error') {
    return { type: FAILURES.unavailable, happened, reason: said.sentence };
  }
  return { ...diagnoseReported(new ReportedFailure(said, false, usage !== null)), happened };
}
