import type { OpenAI } from 'openai' with { 'resolution-mode': 'import' };
import { z } from 'zod';
import { FAILURES } from '../../protocol/failures';
import { diagnose, type Diagnosis, diagnoseReported } from './diagnose';
import { saidIn } from './failures/said';
import {
  chooseSettings,
  type FinishReason,
  isStrict,
  type ModelReply,
  type ModelRequest,
  type Progress,
  toConversation,
} from './model';
import { readReply, refuseReported, ReportedFailure, tierSchema } from './reply';
import { type Assembly, readAnswer } from './stream';
import { responsesUsageSchema, usageOf, USUAL_TIER } from './openai-usage';

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming;

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Header with an id to search for in the logs of OpenAI, or of a gateway in front of it. */
export const REQUEST_ID = 'X-Client-Request-Id';

/** Returns the options of one request. Without an id, null keeps the SDK from sending one from its environment. */
export function optionsFor({ signal, callId = null }: Asked): OpenAI.RequestOptions {
  return { signal, headers: { [REQUEST_ID]: callId } };
}

interface Asked {
  readonly signal: AbortSignal;
  readonly callId?: string | null | undefined;
}

/** Output item. Only messages hold text of the answer; other items are reasoning and tools. */
const itemSchema = z.object({
  type: z.string(),
  content: z
    .array(z.object({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() }))
    .nullish(),
});

const responseSchema = z.object({
  output: z.array(itemSchema),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  service_tier: tierSchema,
  usage: responsesUsageSchema.nullish().catch(null),
});

/** Sends one request to the Responses API. The vendor stores nothing (`store: false`): the run keeps its own texts. */
export async function completeResponse(client: OpenAI, request: ModelRequest): Promise<ModelReply> {
  const { body, dropped } = bodyOf(request);
  const stream = request.card.idleTimeoutMs !== undefined;
  // Read here, since the SDK fails on a body that is no response before we can report it.
  const response = await client.responses
    .create({ ...body, store: false, ...(stream && { stream }) }, optionsFor(request))
    .asResponse();
  const whole = await readAnswer(response, request, responseAssembly());
  return replyOf(readReply(responseSchema, whole), dropped);
}

const eventSchema = z.object({
  type: z.string(),
  delta: z.unknown().optional(),
  response: z.unknown().optional(),
});

const LAST_EVENTS = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** The last event holds the whole response. */
function responseAssembly(): Assembly {
  let last: object | null = null;
  return {
    add: (event) => {
      const { type, delta, response } = readReply(eventSchema, event);
      if (LAST_EVENTS.has(type)) last = Object(response) as object;
      return type === 'response.output_text.delta' && typeof delta === 'string' ? delta : '';
    },
    body: () => last,
    isOver: () => last !== null,
  };
}

function replyOf(
  response: Omit<z.output<typeof responseSchema>, 'error'>,
  dropped: readonly string[],
): ModelReply {
  const { output, incomplete_details: incomplete } = response;
  const parts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => content ?? []);
  const refusal = parts.find(({ type }) => type === 'refusal')?.refusal ?? null;
  return {
    text: parts.map(({ type, text }) => (type === 'output_text' ? (text ?? '') : '')).join(''),
    finish: refusal === null ? finishOf(incomplete?.reason) : 'refusal',
    refusal,
    ...usageOf(response),
    dropped,
  };
}

/** The body without `store`, and the settings that were left out. */
function bodyOf(request: ModelRequest): { body: Body; dropped: readonly string[] } {
  const { card, messages } = request;
  const { system, turns } = toConversation(messages);
  const settings = chooseSettings(request, { lacks: ['topK', 'presencePenalty', 'seed'], efforts: EFFORTS });
  const { temperature, topP, effort, outputSchema, maxOutputTokens, dropped } = settings;
  const body: Body = {
    model: card.model,
    instructions: system || undefined,
    input: turns.map(({ role, text }) => ({ role, content: text })),
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
    ...card.extraBody,
  };
  return { body, dropped };
}

function finishOf(reason: string | null | undefined): FinishReason {
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'refusal' : 'stop';
}

const backgroundSchema = responseSchema.extend({
  id: z.string().min(1).max(1000),
  /** Servers without a background mode answer at once, some of them without a status. */
  status: z.string().nullish(),
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
  const { body, dropped } = bodyOf(request);
  const response = await client.responses
    .create({ ...body, background: true, store: true }, optionsFor(request))
    .asResponse();
  const read = await readBackground(response);
  return { id: read.id, progress: progressOf(read, dropped) };
}

export async function lookAtResponse(client: OpenAI, request: ModelRequest, id: string): Promise<Progress> {
  try {
    const response = await client.responses.retrieve(id, {}, optionsFor(request)).asResponse();
    return progressOf(await readBackground(response), bodyOf(request).dropped);
  } catch (error) {
    if (diagnose(error).type !== FAILURES.notFound) throw error;
    return { status: 'failed', reply: null, diagnosis: LOST };
  }
}

/** Cancels a response. According to the guide, cancelling a finished one changes nothing and returns it as it is. */
export async function cancelResponse(client: OpenAI, request: ModelRequest, id: string): Promise<Progress> {
  const response = await client.responses.cancel(id, optionsFor(request)).asResponse();
  return progressOf(await readBackground(response), bodyOf(request).dropped);
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

function progressOf(response: Background, dropped: readonly string[]): Progress {
  const { status, error } = response;
  if (UNFINISHED.has(status)) return { status: 'running' };
  const reply = replyOf(response, dropped);
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
