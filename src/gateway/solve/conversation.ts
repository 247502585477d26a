import { readTurns } from '../../activities/asked';
import { readRunNow } from '../../client/trace-reader';
import type { ConversationTurn } from '../../protocol/input';
import { readText } from '../../store/texts';
import type { Gateway } from '../gateway';
import { badRequest } from '../refusal';

/** Conversation of a solve: the turns that it was asked with, and its answer. */
export interface Conversation {
  readonly asked: readonly ConversationTurn[];
  readonly answer: string | null;
  readonly isRunning: boolean;
}

export async function readConversation(
  { temporal, store }: Pick<Gateway, 'temporal' | 'store'>,
  id: string,
): Promise<Conversation> {
  const { input, trace } = await readRunNow(temporal, id);
  const turns = input.messages ?? [{ role: 'user' as const, content: trace.question }];
  return {
    asked: await readTurns(store, turns),
    answer: trace.answer === null ? null : await readText(store, trace.answer),
    isRunning: trace.status === 'running',
  };
}

/**
 * Returns the turns that a follow-up question continues.
 * @param name the field that refers to the solve, and its value
 * @throws Refusal if there is no answer to continue from
 */
export function turnsOfConversation(
  { asked, answer, isRunning }: Conversation,
  name: { readonly param: string; readonly value: string },
): ConversationTurn[] {
  if (answer !== null) return [...asked, { role: 'assistant', content: answer }];
  const state = isRunning ? 'has no answer yet: wait for it' : 'gave no answer: ask it again';
  throw badRequest(`${name.param}: ${name.value} ${state}`, name.param);
}
