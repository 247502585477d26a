import { z } from 'zod';
import type { AskedTexts } from '../plan/prompt/fences';
import type { GivenText, WorkerPrompt } from '../plan/prompt/worker';
import type { Asked, WorkerRequest } from '../protocol/activity-contract';
import type { ModelCard } from '../protocol/cards';
import {
  type Background,
  type Conversation,
  type ConversationTurn,
  conversationTurnSchema,
  type SolveInput,
  type Turn,
} from '../protocol/input';
import { questionOf } from '../protocol/planning';
import type { Store } from '../store/store';
import { keepText, readText } from '../store/texts';
import { refuseBadSchema } from './check-answer';

/** Converts a run's input to the form that is passed with each call. @throws as `refuseBadSchema` */
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

export function readTurns(store: Store, turns: readonly Turn[]): Promise<ConversationTurn[]> {
  return Promise.all(
    turns.map(async ({ role, content }) => ({ role, content: await readText(store, content) })),
  );
}

/** Stores the turns before a question in the form that is passed with each call. */
export async function keepConversation(
  store: Store,
  turns: readonly ConversationTurn[],
): Promise<Conversation> {
  return { turns: turns.length, text: await keepText(store, JSON.stringify(turns)) };
}

const turnsSchema = z.array(conversationTurnSchema);

/** Reads what was asked, with every text loaded from the store. */
export async function readAsked(
  store: Store,
  { question, conversation, answerSchema }: Asked,
): Promise<AskedTexts> {
  const turns: unknown = conversation && JSON.parse(await readText(store, conversation.text));
  return {
    question: await readText(store, question),
    ...(conversation && { conversation: turnsSchema.parse(turns) }),
    ...(answerSchema !== undefined && { answerSchema: await readText(store, answerSchema) }),
  };
}

type Prompted = Omit<WorkerRequest, 'worker'> & {
  readonly worker: Pick<ModelCard, 'layout' | 'instructions'>;
};

/** Reads the parts of a worker's prompt, with every text loaded from the store. */
export async function readPrompt(store: Store, request: Prompted): Promise<WorkerPrompt> {
  const { subtask, sees, background = [], failed, worker } = request;
  const [asked, given, reply, ...visible] = await Promise.all([
    readAsked(store, request),
    readBackground(store, background),
    readText(store, failed?.reply ?? ''),
    ...sees.map(async (seen) => ({
      step: seen.step,
      subtask: await readText(store, seen.subtask),
      output: await readText(store, seen.output),
    })),
  ]);
  return {
    ...asked,
    layout: worker.layout,
    instructions: worker.instructions,
    subtask,
    background: given,
    sees: visible,
    ...(failed && { failed: { reply, problem: failed.problem.message } }),
  };
}

export function readBackground(store: Store, background: readonly Background[]): Promise<GivenText[]> {
  return Promise.all(
    background.map(async ({ subtask, output }) => ({
      subtask: subtask && (await readText(store, subtask)),
      output: await readText(store, output),
    })),
  );
}
