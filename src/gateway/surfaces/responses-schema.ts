import { z } from '@hono/zod-openapi';
import type { Config } from '../../config/schema';
import { isRecord } from '../../plan/validate';
import type { ConversationTurn } from '../../protocol/input';
import { isCallerId } from '../../protocol/tool-use';
import { extensionSchema, IgnoredFields, MOST_ITEMS, REQUEST_EFFORTS } from '../solve/request-fields';
import { readExchange, type Utterance } from '../solve/request-calls';
import { leaveOut, utterancesIn, turnContentSchema } from '../solve/request-turns';
import { isToldWhole, mayAskBack } from '../solve/answer';
import { toolFormSchema } from '../solve/request-tools';
import { readQuestion, type SurfaceQuestion } from '../solve/surface-question';

const itemSchema = z.looseObject({
  type: z.string().nullish(),
  role: z.string().nullish(),
  content: turnContentSchema.nullish(),
});
/** OpenAI's own bounds, of which the number of pairs is checked first. */
const metadataSchema = z
  .custom<Readonly<Record<string, string>>>(isMetadata, {
    error: 'expected at most 16 pairs of texts: names of at most 64 characters, values of at most 512',
  })
  .openapi({
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 512 },
    maxProperties: 16,
  });

function isMetadata(value: unknown): boolean {
  const pairs = isRecord(value) ? Object.entries(value) : null;
  if (pairs === null || pairs.length > 16) return false;
  return pairs.every(([name, text]) => name.length <= 64 && typeof text === 'string' && text.length <= 512);
}

const formatSchema = z.looseObject({ type: z.string() });

/** Supported fields of a response request (https://platform.openai.com/docs/api-reference/responses/create). */
export const responseRequestSchema = z
  .looseObject({
    model: z.string(),
    input: z.union([z.string(), z.array(itemSchema).min(1).max(MOST_ITEMS)]),
    instructions: z.string().nullish(),
    stream: z.boolean().nullish(),
    background: z.boolean().nullish(),
    store: z.boolean().nullish(),
    previous_response_id: z.string().nullish(),
    max_output_tokens: z.int().nullish(),
    text: z.looseObject({ format: formatSchema.nullish() }).nullish(),
    reasoning: z.looseObject({ effort: z.enum(REQUEST_EFFORTS).nullish() }).nullish(),
    seed: z.int().nullish(),
    user: z.string().max(512).nullish(),
    metadata: metadataSchema.nullish(),
    conductor: extensionSchema.nullish(),
  })
  .openapi('ResponseRequest');
export type ResponseRequest = z.infer<typeof responseRequestSchema>;

/** @param before turns that `previous_response_id` stands for @throws Refusal for an unsupported request */
export function askedOfResponse(
  body: ResponseRequest,
  before: readonly ConversationTurn[],
  ignored?: string,
): SurfaceQuestion {
  const allowance = new IgnoredFields(ignored);
  const said = [...instructionsOf(body), ...before].map((turn) => ({ kind: 'text' as const, ...turn }));
  const input = utterancesInInput(body.input, allowance);
  if (body.store === false) allowance.leaveOut('store', ': every solve is kept');
  return readQuestion(withToolsOfItems(body, allowance), {
    said: [...said, ...input],
    taken: responseRequestSchema.shape,
    maxTokens: body.max_output_tokens,
    allowance,
  });
}

/** Codex declares the functions of some models in an item of their input; of two of one name, the later counts. */
const DECLARING_ITEM = 'additional_tools';

function withToolsOfItems(body: ResponseRequest, allowance: IgnoredFields): ResponseRequest {
  const items =
    typeof body.input === 'string' ? [] : body.input.filter(({ type }) => type === DECLARING_ITEM);
  if (items.length === 0 || leavesToolsOut(allowance)) return body;
  const lists = [body.tools, ...items.map(({ tools }) => tools)];
  const declared = lists.flatMap((list: unknown): readonly unknown[] => (Array.isArray(list) ? list : []));
  const named = declared.map((tool) => [isRecord(tool) ? (tool.name ?? tool.type) : tool, tool] as const);
  return { ...body, tools: [...new Map(named).values()] };
}

function leavesToolsOut(allowance: IgnoredFields): boolean {
  return allowance.has('tools') || allowance.has(DECLARING_ITEM);
}

function instructionsOf({ instructions }: ResponseRequest): ConversationTurn[] {
  const content = instructions ?? '';
  return content.trim() === '' ? [] : [{ role: 'system', content }];
}

function utterancesInInput(input: ResponseRequest['input'], allowance: IgnoredFields): Utterance[] {
  if (typeof input === 'string') return [{ kind: 'text', role: 'user', content: input }];
  const referred = input.findLastIndex(({ type }) => type === 'item_reference');
  // A solve that is given results knows what it said before them.
  const goesOn = input.slice(referred + 1).some(({ call_id: id }) => isCallerId(id));
  return input.flatMap((item, index) => {
    const place = `input[${index}]`;
    const { type, role, ...message } = item;
    if (type === 'item_reference' && goesOn) return [];
    if (type === DECLARING_ITEM && !leavesToolsOut(allowance)) return [];
    if (type == null || type === 'message')
      return utterancesIn([{ place, message: { ...message, role: role ?? '' } }], allowance);
    const exchange = readExchange(item, place, allowance);
    if (exchange !== null) return [exchange];
    // Clients send back all output of a response, including the reasoning items with its progress lines.
    leaveOut(type, place, allowance);
    return [];
  });
}

/** Part of a request that is kept in its run's memo, so that the response can be retrieved later. */
export const notesSchema = z.object({
  model: z.string(),
  created_at: z.int(),
  background: z.boolean(),
  previous_response_id: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  effort: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  user: z.string().nullable(),
  /** Name of the caller's tool that the answer is the input of. */
  tool: z.string().optional(),
  /** How many functions of the caller may be asked for in one response; absent: none. */
  asks: z.enum(['any', 'one']).optional(),
  /** Those that are called in a form of their own. */
  forms: z.array(toolFormSchema).optional(),
  /** The answer is told when it is complete. */
  isWhole: z.literal(true).optional(),
  /** Whether the first turn is this request's instructions, which do not apply to follow-up responses. */
  isInstructed: z.boolean(),
  trace: extensionSchema.shape.trace,
  warnings: z.array(z.string()),
});
export type ResponseNotes = Readonly<z.infer<typeof notesSchema>>;

export function notesOf(body: ResponseRequest, asked: SurfaceQuestion, config: Config): ResponseNotes {
  const { model, warnings, extension, tool, functions, maxAnswerTokens, effort } = asked;
  const { forms, isSerial } = functions;
  return {
    model,
    created_at: Math.floor(Date.now() / 1000),
    background: body.background === true,
    previous_response_id: body.previous_response_id ?? null,
    max_output_tokens: maxAnswerTokens ?? null,
    effort: effort ?? null,
    metadata: body.metadata ?? {},
    user: body.user ?? null,
    ...(tool !== undefined && { tool }),
    ...(mayAskBack(asked) && { asks: isSerial ? 'one' : 'any', forms: [...forms] }),
    ...(isToldWhole(asked, config) && { isWhole: true as const }),
    isInstructed: instructionsOf(body).length > 0,
    trace: extension.trace,
    warnings: [...warnings],
  };
}
