import { isRecord } from '../../plan/validate';
import type { ConversationTurn } from '../../protocol/input';
import { badRequest } from '../refusal';
import type { IgnoredFields } from './request-fields';

// Calls of functions and their results, as a conversation brings them back in any vendor's format.

/** Something that was said in a conversation, in its order. */
export type Utterance =
  | ({ readonly kind: 'text' } & ConversationTurn)
  | ({ readonly kind: 'call' } & UtteredCall)
  | ({ readonly kind: 'result' } & UtteredResult);

export interface UtteredCall {
  readonly id: string;
  readonly name: string;
  /** JSON of its arguments, or its text. */
  readonly input: string;
}

export interface UtteredResult {
  /** Id of its call. */
  readonly id: string;
  readonly output: string;
  readonly isError: boolean;
  /** Where it stands in the request. */
  readonly place: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Types of items and parts that are a call, and of those that are the result of one. */
const CALLS: readonly unknown[] = ['function_call', 'custom_tool_call', 'tool_use'];
const RESULTS: readonly unknown[] = ['function_call_output', 'custom_tool_call_output', 'tool_result'];

/** Reads an item or a part that is a call or a result; null: it is neither. */
export function readExchange(fields: Fields, place: string, allowance: IgnoredFields): Utterance | null {
  if (CALLS.includes(fields.type)) return callIn(fields, place);
  return RESULTS.includes(fields.type) ? resultIn(fields, place, allowance) : null;
}

/** Reads the calls of a message of OpenAI's chats. */
export function callsOfMessage({ tool_calls: calls }: Fields, place: string): Utterance[] {
  if (!Array.isArray(calls)) return [];
  return calls.map((call: unknown, index) => callIn(call, `${place}.tool_calls[${index}]`));
}

function callIn(call: unknown, place: string): Utterance {
  const fields = isRecord(call) ? call : {};
  const called = [fields.function, fields.custom].find(isRecord) ?? fields;
  const { arguments: input = called.input ?? {} } = called;
  const id = fields.call_id ?? fields.id;
  const { name, namespace } = called;
  if (typeof name !== 'string' || typeof id !== 'string')
    throw badRequest(`${place}: expected a call with an id and a name`, place);
  const whole = typeof namespace === 'string' ? `${namespace}__${name}` : name;
  return { kind: 'call', id, name: whole, input: typeof input === 'string' ? input : JSON.stringify(input) };
}

/** Reads the result of a call: an item, a part, or a message of role `tool`. */
export function resultIn(fields: Fields, place: string, allowance: IgnoredFields): Utterance {
  const id = fields.tool_call_id ?? fields.call_id ?? fields.tool_use_id;
  if (typeof id !== 'string') throw badRequest(`${place}: expected the id of the call that it is of`, place);
  const output = outputIn(fields.output ?? fields.content, place, allowance);
  return { kind: 'result', id, output, isError: fields.is_error === true, place };
}

function outputIn(content: unknown, place: string, allowance: IgnoredFields): string {
  if (content == null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part, index) => outputOfPart(part, `${place}[${index}]`, allowance)).join('\n');
}

/** A result is passed on without what is no text: its run would wait for ever if it were refused. */
function outputOfPart(part: unknown, place: string, allowance: IgnoredFields): string {
  const { type, text, ...rest } = isRecord(part) ? part : {};
  if (typeof text === 'string') return text;
  if (type === 'tool_reference') return JSON.stringify(rest);
  const shown = String(type).slice(0, 40);
  allowance.leaveOut(`${place} (${JSON.stringify(shown)})`, ': only text is passed on');
  return `[${shown}: not shown, as only text can be]`;
}
