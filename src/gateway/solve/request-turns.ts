import { z } from '@hono/zod-openapi';
import type { ConversationTurn } from '../../protocol/input';
import { badRequest } from '../refusal';
import { callsOfMessage, readExchange, resultIn, type Utterance } from './request-calls';
import { type IgnoredFields, IGNORE_HEADER, MOST_ITEMS } from './request-fields';

const partSchema = z.looseObject({ type: z.string() });
type Part = z.infer<typeof partSchema>;

/** Text of a message in every vendor's format: a string, or a list of parts. */
export const turnContentSchema = z.union([z.string(), z.array(partSchema).max(MOST_ITEMS)]);
type TurnContent = z.infer<typeof turnContentSchema> | null | undefined;

/** Turn of a conversation in any vendor's format. */
export const messageSchema = z.looseObject({ role: z.string(), content: turnContentSchema.nullish() });
type VendorMessage = z.infer<typeof messageSchema>;

/** Role of a conversation by the role names of all surfaces. */
const ROLES: Readonly<Record<string, ConversationTurn['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/** Types of parts that are text, with the field that has it. A compaction says what went before. */
const TEXT_FIELDS: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'refusal',
  compaction: 'content',
};

/** Types of parts and items that are thoughts, or mark a place: a model needs none of them to go on. */
const NEEDLESS = /^(?:(?:redacted_)?(?:thinking|reasoning|thoughts?)(?:[._].*)?|summary_text|fallback)$/;

/**
 * Types of parts and items about which tools there are. A client that can do without `tools` can do without them, as
 * without an encrypted compaction, which only its vendor can read.
 */
const DECLARATION =
  /^(?:additional_tools|tool_search_.+|tool_(?:addition|removal|reference)|mcp_list_tools|mcp_tool_listing|(?:context_)?compaction(?:_summary)?)$/;

/** Fields of a message that say something besides its text. */
const SPEAKING_FIELDS = ['function_call', 'audio'] as const;

/** A message, and its place in the request. */
interface Placed {
  readonly place: string;
  readonly message: VendorMessage;
}

/** @param param the field that holds the messages */
export function placed(messages: readonly VendorMessage[], param: string): Placed[] {
  return messages.map((message, index) => ({ place: `${param}[${index}]`, message }));
}

/** Returns what was said in a conversation, without blank texts. @throws Refusal for what is no text and cannot be left out */
export function utterancesIn(messages: readonly Placed[], allowance: IgnoredFields): Utterance[] {
  return messages
    .flatMap(({ place, message }) => utterancesBy(message, place, allowance))
    .filter((said) => said.kind !== 'text' || said.content.trim() !== '');
}

function utterancesBy(message: VendorMessage, place: string, allowance: IgnoredFields): Utterance[] {
  if (message.role === 'tool') return [resultIn(message, place, allowance)];
  const role = roleOf(message, place);
  for (const name of SPEAKING_FIELDS) {
    const value = message[name];
    if (value == null || (Array.isArray(value) && value.length === 0)) continue;
    leaveOut(name, `${place}.${name}`, allowance);
  }
  const exchanged: Utterance[] = [];
  const texts: string[] = [];
  for (const [index, part] of partsOf(message).entries()) {
    const at = `${place}.content[${index}]`;
    const exchange = readExchange(part, at, allowance);
    if (exchange === null) texts.push(...textOfPart(part, at, allowance));
    else exchanged.push(exchange);
  }
  const text = { kind: 'text', role, content: texts.join('\n') } as const;
  // Vendors put a model's text before its calls, and the user's behind the results.
  return role === 'assistant'
    ? [text, ...exchanged, ...callsOfMessage(message, place)]
    : [...exchanged, text];
}

function partsOf({ content, refusal }: VendorMessage): readonly Part[] {
  // OpenAI's models put a refusal here, in place of a content.
  const said = content ?? (typeof refusal === 'string' ? refusal : []);
  return typeof said === 'string' ? [{ type: 'text', text: said }] : said;
}

function roleOf({ role }: VendorMessage, place: string): ConversationTurn['role'] {
  const ours = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined;
  if (ours !== undefined) return ours;
  const known = [...Object.keys(ROLES), 'tool'].join(', ');
  const what = `${place}.role is ${JSON.stringify(role.slice(0, 40))}: expected one of ${known}`;
  throw badRequest(`${what}; put what a function of no id found into words`, `${place}.role`);
}

export function textOfContent(content: TurnContent, place: string, allowance: IgnoredFields): string {
  if (typeof content === 'string') return content;
  const texts = (content ?? []).flatMap((part, index) => textOfPart(part, `${place}[${index}]`, allowance));
  return texts.join('\n');
}

function textOfPart(part: Part, place: string, allowance: IgnoredFields): string[] {
  const { type } = part;
  const text = Object.hasOwn(TEXT_FIELDS, type) ? part[TEXT_FIELDS[type] ?? ''] : undefined;
  if (typeof text === 'string') return [text];
  leaveOut(type, place, allowance);
  return [];
}

/**
 * Leaves out a part of a message, or an item that is none.
 * @param type its type, by which the header may name it
 * @throws Refusal if the conversation would then mean something else
 */
export function leaveOut(type: string, place: string, allowance: IgnoredFields): void {
  if (NEEDLESS.test(type)) return;
  const names = DECLARATION.test(type) ? ['tools', type] : [type];
  const shown = JSON.stringify(type.slice(0, 40));
  if (names.some((name) => allowance.has(name))) {
    allowance.leaveOut(`${place} (${shown})`);
    return;
  }
  const remedy =
    type === 'item_reference'
      ? 'send the item itself, as clients do with store: false'
      : 'put what an image or a file says into words';
  const header = `if it can be left out, name ${names.join(' or ').slice(0, 60)} in the header ${IGNORE_HEADER}`;
  throw badRequest(
    `${place} is ${shown}: only text is supported; ${remedy}; ${header}`,
    place,
    'unsupported_content',
  );
}

/**
 * Returns the turns with the question last: instructions that stand behind it, where some clients put reminders, come
 * before it.
 */
export function withQuestionLast(turns: readonly ConversationTurn[]): readonly ConversationTurn[] {
  const last = turns.findLastIndex(({ role }) => role !== 'system');
  const question = turns[last];
  return question === undefined ? turns : [...turns.toSpliced(last, 1), question];
}
