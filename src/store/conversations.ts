import { z } from 'zod';
import { type Conversation, type ConversationTurn, conversationTurnSchema } from '../protocol/input';
import type { Store } from './store';
import { keepText, readText } from './texts';

const turnsSchema = z.array(conversationTurnSchema);

/** Counts turns as a model may be told them: a call is one, and its result another. */
export function countTurns(turns: readonly ConversationTurn[]): number {
  return turns.reduce((sum, { calls = [] }) => sum + 1 + 2 * calls.length, 0);
}

/** Stores turns as one text, however many there are. */
export async function keepConversation(
  store: Store,
  turns: readonly ConversationTurn[],
): Promise<Conversation> {
  return { turns: countTurns(turns), text: await keepText(store, JSON.stringify(turns)) };
}

/** @throws ZodError or SyntaxError if the text is not a list of turns */
export async function readConversationTurns(
  store: Store,
  { text }: Conversation,
): Promise<ConversationTurn[]> {
  return turnsSchema.parse(JSON.parse(await readText(store, text)));
}
