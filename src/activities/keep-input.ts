import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { AskedTexts } from '../plan/prompt/fences';
import { putInWords } from '../plan/prompt/told-calls';
import type { GivenText, WorkerPrompt } from '../plan/prompt/worker';
import type { RunTask, WorkerRequest } from '../protocol/activity-contract';
import type { ModelCard } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import type { Background, ConversationTurn, SolveInput } from '../protocol/input';
import { questionOf } from '../protocol/planning';
import type { EarlierCall } from '../protocol/tool-use';
import type { Store } from '../store/store';
import { keepConversation, readConversationTurns } from '../store/conversations';
import { keepText, readText } from '../store/texts';
import { refuseBadSchema } from './check-answer';

/** Converts a run's input to the form that is passed with each call. @throws as `refuseBadSchema` and `turnsBefore` */
export async function askedIn(store: Store, input: SolveInput): Promise<RunTask> {
  const { answerSchema } = input;
  const before = await turnsBefore(store, input);
  const schema = answerSchema === undefined ? undefined : JSON.stringify(answerSchema);
  if (schema !== undefined) await refuseBadSchema(schema);
  return {
    question: await keepText(store, await readText(store, questionOf(input))),
    ...(before.length > 0 && { conversation: await keepConversation(store, before) }),
    ...(schema !== undefined && { answerSchema: await keepText(store, schema) }),
  };
}

/**
 * Returns the turns before a run's question, in whichever form its client sent them.
 * @throws ApplicationFailure of type `Solve.BadInput` if a stored conversation is none
 */
export async function turnsBefore(
  store: Store,
  { messages = [], conversation }: Pick<SolveInput, 'messages' | 'conversation'>,
): Promise<ConversationTurn[]> {
  if (conversation !== undefined) {
    return readConversationTurns(store, conversation).catch((error: unknown) => {
      if (!(error instanceof z.ZodError || error instanceof SyntaxError)) throw error;
      const problem =
        'conversation.text must be the JSON of a list of turns, { role, content }: send messages instead';
      throw ApplicationFailure.nonRetryable(problem, FAILURES.badInput);
    });
  }
  const before = messages.slice(0, -1);
  return Promise.all(
    before.map(async ({ role, content }) => ({ role, content: await readText(store, content) })),
  );
}

/**
 * Reads what was asked, with every text loaded from the store.
 * @param readsCalls whether its reader takes the calls of a conversation as calls; else they are put in words
 */
export async function readRunTask(
  store: Store,
  { question, conversation, answerSchema }: RunTask,
  readsCalls = false,
): Promise<AskedTexts> {
  const turns = conversation && (await readConversationTurns(store, conversation));
  return {
    question: await readText(store, question),
    ...(turns && { conversation: readsCalls ? turns : putInWords(turns) }),
    ...(answerSchema !== undefined && { answerSchema: await readText(store, answerSchema) }),
  };
}

type Prompted = Omit<WorkerRequest, 'worker'> & {
  readonly worker: Pick<ModelCard, 'layout' | 'instructions'>;
};

/** Reads the parts of a worker's prompt, with every text loaded from the store. */
export async function readPrompt(store: Store, request: Prompted): Promise<WorkerPrompt> {
  const { subtask, sees, background = [], failed, worker, earlierCalls, toolTurn } = request;
  const [asked, given, reply, ...visible] = await Promise.all([
    // Vendors refuse calls in a request without tools.
    readRunTask(store, request, toolTurn !== undefined),
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
    ...(earlierCalls && { earlierCalls: await readCalls(store, earlierCalls) }),
    ...(failed && { failed: { reply, problem: failed.problem.message } }),
  };
}

function readCalls(
  store: Store,
  calls: readonly EarlierCall[],
): Promise<NonNullable<WorkerPrompt['earlierCalls']>> {
  return Promise.all(
    calls.map(async ({ name, input, output, said }) => ({
      name,
      input: await readText(store, input),
      output:
        (await readText(store, output)) +
        (said ? `\n\nBeside it was said:\n${await readText(store, said)}` : ''),
    })),
  );
}

export function readBackground(store: Store, background: readonly Background[]): Promise<GivenText[]> {
  return Promise.all(
    background.map(async ({ subtask, output }) => ({
      subtask: subtask && (await readText(store, subtask)),
      output: await readText(store, output),
    })),
  );
}
