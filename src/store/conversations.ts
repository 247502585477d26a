import { z } from 'zod';
import { type Conversation, type ConversationTurn, conversationTurnSchema } from '../protocol/input';
import type { Store } from './store';
import { keepText, readText } from './texts';

const turnsSchema = z.array(conversationTurnSchema);

/** Stores turns as one text, however many there are. */
export async function keepConversation(
  store: Store,
  turns: readonly ConversationTurn[],
): Promise<Conversation> {
  // A call is two turns for a model that is told it as one: the call, and its result.
  const calls = turns.reduce((sum, turn) => sum + (turn.calls?.length ?? 0), 0);
  return { turns: turns.length + 2 * calls, text: await keepText(store, JSON.stringify(turns)) };
}

/** @throws ZodError or SyntaxError if the text is not a list of turns */
export async function readConversationTurns(
  store: Store,
  { text }: Conversation,
): Promise<ConversationTurn[]> {
  return turnsSchema.parse(JSON.parse(await readText(store, text)));
}
