import type { Message } from './model';

/** One side's words; two turns in a row never have the same role. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** A conversation in the shape every vendor accepts: one system text, then turns that alternate. */
export interface Conversation {
  /** Empty where there is none. */
  readonly system: string;
  readonly turns: readonly Turn[];
}

/**
 * Brings messages into that shape, joining neighbours of one role with a blank line.
 *
 * Vendors' own APIs would take repeated roles, but many chat templates behind OpenAI-compatible servers raise on them.
 */
export function toConversation(messages: readonly Message[]): Conversation {
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const { role, text } of messages) {
    const last = turns.at(-1);
    if (role === 'system') system.push(text);
    else if (last?.role === role) turns[turns.length - 1] = { role, text: `${last.text}\n\n${text}` };
    else turns.push({ role, text });
  }
  return { system: system.join('\n\n'), turns };
}
