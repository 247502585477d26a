import type { ConversationTurn } from '../../protocol/input';
import { badRequest } from '../refusal';

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

/** Role of a conversation by the role names of all surfaces. */
const ROLES: Readonly<Record<string, ConversationTurn['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
};

/** Types of message parts that are text. */
const TEXT_PARTS: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text']);

/** Returns the turns of a conversation without blank ones. @throws Refusal for a part that is not text */
export function turnsOf(messages: readonly Message[], param: string): ConversationTurn[] {
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

/** @param content a string, or a list of text parts */
export function textOf(content: unknown, place: string): string {
  if (typeof content === 'string') return content;
  if (content === null || content === undefined) return '';
  if (!Array.isArray(content)) throw badRequest(`${place} must be a string or a list of text parts`, place);
  return content.map((part: unknown, index) => textOfPart(part, `${place}[${index}]`)).join('\n');
}

function textOfPart(part: unknown, place: string): string {
  const { type, text, refusal } = Object(part) as Readonly<Record<string, unknown>>;
  if (TEXT_PARTS.has(type) && typeof text === 'string') return text;
  // A model's refusal is part of the conversation.
  if (type === 'refusal' && typeof refusal === 'string') return refusal;
  const kind = typeof type === 'string' ? JSON.stringify(type.slice(0, 40)) : 'of an unknown type';
  throw badRequest(
    `${place} is ${kind}: only text is supported; put what an image or a tool says into words`,
    place,
    'unsupported_content',
  );
}
