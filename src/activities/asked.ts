import { z } from 'zod';
import type { Message } from '../plan/plan';
import type { AskedTexts } from '../plan/prompt/asked';
import type { Asked } from '../protocol/activity-contract';
import type { Conversation, SolveInput, Turn } from '../protocol/input';
import { questionOf } from '../protocol/planning';
import type { Store } from '../store/store';
import { keepText, readText } from '../store/texts';
import { refuseBadSchema } from './check-answer';

/** What the input of a run asks, in the form in which it travels with each call. @throws as `refuseBadSchema` */
export async function askedIn(store: Store, input: SolveInput): Promise<Asked> {
  const { messages = [], answerSchema } = input;
  const before = messages.slice(0, -1);
  const schema = answerSchema === undefined ? undefined : JSON.stringify(answerSchema);
  if (schema !== undefined) await refuseBadSchema(schema);
  return {
    question: await keepText(store, await readText(store, questionOf(input))),
    ...(before.length > 0 && { conversation: await keepConversation(store, await readTurns(store, before)) }),
    ...(schema !== undefined && { answerSchema: await keepText(store, schema) }),
  };
}

function readTurns(store: Store, turns: readonly Turn[]): Promise<Message[]> {
  return Promise.all(
    turns.map(async ({ role, content }) => ({ role, text: await readText(store, content) })),
  );
}

export async function keepConversation(store: Store, messages: readonly Message[]): Promise<Conversation> {
  return { turns: messages.length, text: await keepText(store, JSON.stringify(messages)) };
}

const messagesSchema = z.array(z.object({ role: z.enum(['system', 'user', 'assistant']), text: z.string() }));

/** What was asked, with its texts whole. */
export async function readAsked(
  store: Store,
  { question, conversation, answerSchema }: Asked,
): Promise<AskedTexts> {
  const turns: unknown = conversation && JSON.parse(await readText(store, conversation.text));
  return {
    question: await readText(store, question),
    ...(conversation && { conversation: messagesSchema.parse(turns) }),
    ...(answerSchema !== undefined && { answerSchema: await readText(store, answerSchema) }),
  };
}
