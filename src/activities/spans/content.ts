import type { Attributes } from '@opentelemetry/api';
import type { Message } from '../../plan/plan';
import type { Part, Turn } from '../../protocol/parts';
import { ATTRIBUTES, FINISH_REASONS } from '../../telemetry/names';
import type { ModelReply } from '../models/model';
import type { AskedModel } from './describe';

/** Most characters of texts on a span: backends refuse longer ones, and exporters hold many spans in memory. */
const MAX_CHARACTERS = 100_000;

/** Returns the texts of a request, and of what came back; of long ones, the last messages. */
export function contentOf({ messages, toolUse }: AskedModel, reply: ModelReply | null): Attributes {
  const asked = [...messages.map(toMessage), ...(toolUse?.turns ?? []).map(turnToMessage)];
  const answered = reply && {
    role: 'assistant',
    parts: reply.turn?.flatMap(toPart) ?? [{ type: 'text', content: reply.text }],
    finish_reason: FINISH_REASONS[reply.finish],
  };
  return {
    [ATTRIBUTES.inputMessages]: toText(asked),
    ...(answered !== null && { [ATTRIBUTES.outputMessages]: toText([answered]) }),
  };
}

type Piece = Readonly<Record<string, string>>;

interface ChatMessage {
  readonly role: string;
  readonly parts: readonly Piece[];
}

function toMessage({ role, text }: Message): ChatMessage {
  return { role, parts: [{ type: 'text', content: text }] };
}

function turnToMessage({ role, parts }: Turn): ChatMessage {
  return { role, parts: parts.flatMap(toPart) };
}

/** Leaves out blocks that nobody but their model can read. */
function toPart(part: Part): Piece[] {
  if (part.kind === 'text') return [{ type: 'text', content: part.text }];
  if (part.kind === 'call')
    return [{ type: 'tool_call', id: part.id, name: part.name, arguments: part.input }];
  if (part.kind === 'result') return [{ type: 'tool_call_response', id: part.id, response: part.text }];
  return [];
}

/** Fields of a piece that may be long. */
const LONG: ReadonlySet<string> = new Set(['content', 'arguments', 'response']);

/** Returns the last messages that fit, as JSON; a text that does not fit whole loses its end. */
function toText(messages: readonly ChatMessage[]): string {
  let left = MAX_CHARACTERS;
  const take = (text: string): string => {
    const some = text.length <= left ? text : `${text.slice(0, left)}…`;
    left = Math.max(0, left - text.length);
    return some;
  };
  const kept: ChatMessage[] = [];
  for (const { parts, ...message } of messages.toReversed()) {
    if (left === 0) break;
    const cut = parts.map((piece) =>
      Object.fromEntries(
        Object.entries(piece).map(([name, text]) => [name, LONG.has(name) ? take(text) : text]),
      ),
    );
    kept.unshift({ ...message, parts: cut });
  }
  return JSON.stringify(kept);
}
