import { z } from '@hono/zod-openapi';
import type { AnswerSchema, ConversationTurn } from '../../protocol/input';
import { answerSchemaSchema, MAX_TURNS, MOST_POOL } from '../../protocol/input';
import { MAX_COST_USD, MAX_STEPS } from '../../protocol/messages';
import { planSchema } from '../../protocol/solve';
import { badRequest, type Refusal } from '../refusal';

/** Most turns of a conversation, and parts of a turn. */
export const MOST_ITEMS = MAX_TURNS;

const ids = z.array(z.string()).max(MOST_POOL);

/** The gateway's own fields, which a request carries beside the vendors' under the one key `conductor`. */
export const extensionSchema = z
  .strictObject({
    max_cost_usd: z.number().min(0).max(MAX_COST_USD).optional(),
    max_steps: z.int().min(1).max(MAX_STEPS).optional(),
    max_depth: z.int().min(0).max(10).optional(),
    pool: z.strictObject({ allow: ids.optional(), deny: ids.optional() }).optional(),
    /** `approve`: the plan waits for a person's approval. A plan object: it runs as it is. */
    plan: z.union([z.enum(['auto', 'approve']), planSchema]).optional(),
    /** How much the answer says about how it was found. */
    trace: z.enum(['none', 'summary', 'full']).optional(),
    /** Fate of the solve if the client disconnects before its end. */
    on_disconnect: z.enum(['continue', 'cancel']).optional(),
  })
  .openapi('Conductor');
export type Extension = z.infer<typeof extensionSchema>;

/** A question as every surface passes it on, in the product's own terms. */
export interface Asked {
  readonly model: string;
  readonly messages: readonly ConversationTurn[];
  readonly answerSchema?: AnswerSchema | undefined;
  readonly maxAnswerTokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly effort?: string | undefined;
  readonly extension: Extension;
  /** Fields that are ignored, a sentence for each. */
  readonly warnings: readonly string[];
}

/** Schema for a vendor's `json_object`, which names none: any JSON object. */
const ANY_OBJECT: AnswerSchema = { type: 'object' };

export const FORMATS = ['text', 'json_object', 'json_schema'] as const;

/** @throws Refusal if the schema is invalid or too large */
export function answerSchemaOf(
  format: { type: string } | null | undefined,
  schema: unknown,
  param: string,
): AnswerSchema | undefined {
  if (format == null || format.type === 'text') return undefined;
  if (format.type === 'json_object') return ANY_OBJECT;
  const read = answerSchemaSchema.safeParse(schema);
  if (read.success) return read.data;
  throw badRequest(`${param}: ${read.error.issues[0]?.message ?? 'expected a JSON Schema'}`, param);
}

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

const partSchema = z.looseObject({ type: z.string() });
/** Text of a message in every vendor's format: a string, or a list of parts. */
export const contentSchema = z.union([z.string(), z.array(partSchema).max(MOST_ITEMS)]);
type Content = z.infer<typeof contentSchema> | null | undefined;

/** Role of a conversation by the role names of all surfaces. */
const ROLES: Readonly<Record<string, ConversationTurn['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/** Types of message parts that are text. */
const TEXT_PARTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

/** Returns the turns of a conversation without blank ones. @throws Refusal for a part that is not text */
export function turnsOf(
  messages: readonly { readonly role: string; readonly content?: Content }[],
  param: string,
): ConversationTurn[] {
  const turns = messages.map(({ role, content }, index) => {
    const place = `${param}[${index}]`;
    const ours = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
    if (ours !== undefined) return { role: ours, content: textOf(content, `${place}.content`) };
    const known = Object.keys(ROLES).join(', ');
    throw badRequest(
      `${place}.role is ${JSON.stringify(role.slice(0, 40))}: expected one of ${known}`,
      `${place}.role`,
    );
  });
  return turns.filter(({ content }) => content.trim() !== '');
}

export function textOf(content: Content, place: string): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part, index) => textOfPart(part, `${place}[${index}]`)).join('\n');
}

function textOfPart(part: z.infer<typeof partSchema>, place: string): string {
  const { type, text, refusal } = part;
  if (TEXT_PARTS.has(type) && typeof text === 'string') return text;
  // A model's refusal is part of the conversation.
  if (type === 'refusal' && typeof refusal === 'string') return refusal;
  throw badRequest(
    `${place} is ${JSON.stringify(type.slice(0, 40))}: only text is supported; put what an image or a tool says into words`,
    place,
    'unsupported_content',
  );
}

/**
 * Fields that the gateway does not support and must not drop, since that would change the meaning: whether a value asks
 * for nothing, and what to do instead. All other unsupported fields are ignored, and listed.
 */
export type RefusedFields = Readonly<
  Record<string, { readonly asksNothing?: (value: unknown) => boolean; readonly instead: string }>
>;

/** Header in which a client lists fields, comma-separated, that it sends but can do without. */
export const IGNORE_HEADER = 'x-conductor-ignore';

/**
 * @param taken has the supported fields
 * @param ignored value of the header `IGNORE_HEADER`
 * @returns a sentence for each ignored field
 * @throws Refusal for a field that must not be ignored
 */
export function checkFields(
  body: Readonly<Record<string, unknown>>,
  taken: object,
  refused: RefusedFields,
  ignored: string | undefined,
): string[] {
  const ignorable = new Set(ignored?.split(',').map((name) => name.trim()));
  const rules = new Map(Object.entries(refused));
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(body)) {
    const rule = rules.get(name);
    const isTaken = rule === undefined ? Object.hasOwn(taken, name) : rule.asksNothing?.(value) === true;
    if (isTaken || value == null) continue;
    if (rule !== undefined && !ignorable.has(name)) throw unsupported(name, rule.instead);
    // An unknown name may have any length.
    warnings.push(`${name.slice(0, 64)} is ignored`);
  }
  return warnings.slice(0, MOST_WARNINGS);
}

function unsupported(name: string, instead: string): Refusal {
  const message = `${name} is not supported: ${instead}; if a client must send it, name it in the header ${IGNORE_HEADER}`;
  return badRequest(message, name, 'unsupported_parameter');
}

const MOST_WARNINGS = 50;

export const TOOLS_REFUSED = {
  asksNothing: (value: unknown): boolean => Array.isArray(value) && value.length === 0,
  instead:
    "workers cannot use the caller's tools; leave it out, and put what they would find into the messages",
};

/** Rule for `tool_choice` in both of OpenAI's formats. */
export const TOOL_CHOICE_REFUSED = {
  ...TOOLS_REFUSED,
  asksNothing: (value: unknown): boolean => value === 'none' || value === 'auto',
};
