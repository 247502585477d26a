import { z } from '@hono/zod-openapi';
import { FAILURES } from '../../protocol/failures';
import type { CallerCall } from '../../client';
import { freeTextIn } from '../../protocol/parts';
import type { SolveResult } from '../../protocol/solve';
import { refusalOfRun } from '../refusal';
import type { EndFacts } from '../solve/answer-end';
import { costOf, noteOf, solveNoteSchema, type SpentAmounts } from '../solve/facts';
import type { ResponseNotes } from './responses-schema';

const itemStatusSchema = z.enum(['in_progress', 'completed', 'incomplete']);

const outputTextSchema = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()),
});

const outputItemSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
    status: itemStatusSchema,
  }),
  z.object({
    type: z.literal('message'),
    id: z.string(),
    role: z.literal('assistant'),
    status: itemStatusSchema,
    content: z.array(outputTextSchema),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    namespace: z.string().optional(),
    arguments: z.string(),
    status: itemStatusSchema,
  }),
  z.object({
    type: z.literal('custom_tool_call'),
    id: z.string(),
    call_id: z.string(),
    name: z.string(),
    namespace: z.string().optional(),
    input: z.string(),
    status: itemStatusSchema,
  }),
]);
export type OutputItem = z.infer<typeof outputItemSchema>;
type OutputText = z.infer<typeof outputTextSchema>;

const usageSchema = z
  .object({
    input_tokens: z.int(),
    input_tokens_details: z.object({ cached_tokens: z.int(), orchestration_tokens: z.int() }),
    output_tokens: z.int(),
    output_tokens_details: z.object({ reasoning_tokens: z.int(), orchestration_tokens: z.int() }),
    total_tokens: z.int(),
    cost: z.number(),
    cost_details: z.object({ is_lower_bound: z.boolean() }),
  })
  .openapi('ResponseUsage');

/** https://platform.openai.com/docs/api-reference/responses/object */
export const responseSchema = z
  .object({
    id: z.string(),
    object: z.literal('response'),
    created_at: z.int(),
    status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    background: z.boolean(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.object({ reason: z.literal('max_output_tokens') }).nullable(),
    instructions: z.null(),
    max_output_tokens: z.int().nullable(),
    metadata: z.record(z.string(), z.string()),
    model: z.string(),
    output: z.array(outputItemSchema),
    parallel_tool_calls: z.boolean(),
    previous_response_id: z.string().nullable(),
    reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
    store: z.boolean(),
    temperature: z.null(),
    tool_choice: z.union([
      z.enum(['none', 'auto']),
      z.object({ type: z.literal('function'), name: z.string() }),
    ]),
    tools: z.array(z.unknown()).max(0),
    top_p: z.null(),
    truncation: z.literal('disabled'),
    usage: usageSchema.nullable(),
    user: z.string().nullable(),
    conductor: solveNoteSchema.optional(),
  })
  .openapi('Response');
export type ResponseBody = z.infer<typeof responseSchema>;

/** Id of a response's solve, and the notes kept in that solve's memo. */
export interface KnownResponse {
  readonly id: string;
  readonly notes: ResponseNotes;
}

export function textPart(text: string): OutputText {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** Returns the response before any of its output is known. */
export function beginningOf({ id, notes }: KnownResponse): ResponseBody {
  const { created_at, background, max_output_tokens, metadata, model, previous_response_id, user } = notes;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at,
    status: 'in_progress',
    background,
    error: null,
    incomplete_details: null,
    // Left out, as they may be long and the caller has them.
    instructions: null,
    max_output_tokens,
    metadata,
    model,
    output: [],
    parallel_tool_calls: notes.asks === 'any',
    previous_response_id,
    reasoning: { effort: notes.effort, summary: null },
    store: true,
    temperature: null,
    tool_choice: choiceOf(notes),
    // Left out, as instructions are.
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: null,
    user,
  };
}

function choiceOf({ tool, asks }: ResponseNotes): ResponseBody['tool_choice'] {
  if (tool !== undefined) return { type: 'function', name: tool };
  return asks === undefined ? 'none' : 'auto';
}

/** Returns the response as it is, under way or ended. */
export function responseOf(known: KnownResponse, { result, calls, spent }: EndFacts): ResponseBody {
  const { notes, id } = known;
  const status = calls.length > 0 ? 'completed' : statusOf(result);
  const isUnderWay = status === 'queued' || status === 'in_progress';
  const note = noteOf(result, { extension: { trace: notes.trace }, warnings: notes.warnings });
  const begun = { ...beginningOf(known), status, conductor: note };
  if (isUnderWay) return begun;
  const ended = { ...begun, usage: usageOf(spent) };
  if (calls.length > 0) return { ...ended, output: calls.map((call) => callItem(known, call)) };
  if (result.answer === null) return { ...ended, error: errorOf(result) };
  const itemStatus = status === 'completed' ? 'completed' : 'incomplete';
  return {
    ...ended,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    output: [answerItem(begun, id, { answer: result.answer, status: itemStatus })],
  };
}

/**
 * Returns the item that the answer is: a message, or a call of the tool that the caller demands.
 * @param answer null: what was told of it is void
 */
export function answerItem(
  { tool_choice: choice }: Pick<ResponseBody, 'tool_choice'>,
  id: string,
  {
    answer,
    status,
  }: { readonly answer: string | null; readonly status: 'in_progress' | 'completed' | 'incomplete' },
): OutputItem {
  if (typeof choice !== 'string') {
    const [call, call_id] = [`fc_${id}`, `call_${id}`];
    return { type: 'function_call', id: call, call_id, name: choice.name, arguments: answer ?? '', status };
  }
  const content = answer === null ? [] : [textPart(answer)];
  return { type: 'message', id: `msg_${id}`, role: 'assistant', status, content };
}

/** Returns the item of a call of one of the caller's functions, in the form in which the caller declared it. */
function callItem({ notes: { forms = [] } }: KnownResponse, call: CallerCall): CallItem {
  const { id: call_id, name, arguments: input } = call;
  const { isFreeText, namespace } = forms.find((form) => form.name === name) ?? {};
  const bare = namespace === undefined ? name : name.slice(namespace.length + '__'.length);
  const within = namespace === undefined ? {} : { namespace };
  const common = { call_id, name: bare, ...within, status: 'completed' } as const;
  if (isFreeText === true)
    return { type: 'custom_tool_call', id: `ctc_${call_id}`, ...common, input: freeTextIn(input) };
  return { type: 'function_call', id: `fc_${call_id}`, ...common, arguments: input };
}

export type CallItem = Extract<OutputItem, { type: 'function_call' | 'custom_tool_call' }>;

/** Returns what a call is given. */
export function inputOf(item: CallItem): string {
  return item.type === 'function_call' ? item.arguments : item.input;
}

/** Returns the text of an answer's item. */
export function answerIn(item: OutputItem): string | null {
  if (item.type === 'function_call' || item.type === 'custom_tool_call') return inputOf(item);
  return item.type === 'message' ? (item.content[0]?.text ?? null) : null;
}

function statusOf(result: SolveResult): ResponseBody['status'] {
  const { status, answer, rounds } = result;
  if (status === 'running') return rounds.length === 0 ? 'queued' : 'in_progress';
  if (status === 'cancelled') return 'cancelled';
  if (answer === null) return 'failed';
  return result.answerCut === true ? 'incomplete' : 'completed';
}

/** Only two codes of OpenAI's clients fit. */
function errorOf(result: SolveResult): ResponseBody['error'] {
  const { code, message } = refusalOfRun(result);
  return { code: code === FAILURES.badInput ? 'invalid_prompt' : 'server_error', message };
}

function usageOf(spent: SpentAmounts): ResponseBody['usage'] {
  const { input, output, cached, reasoning, orchestrationInput, orchestrationOutput } = spent;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, orchestration_tokens: orchestrationInput },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning, orchestration_tokens: orchestrationOutput },
    total_tokens: input + output,
    ...costOf(spent),
  };
}
