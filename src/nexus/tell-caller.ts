import { Context } from '@temporalio/activity';
import { ConductorClient, unlessNotFound } from '../client';
import { refusalOfRun } from '../gateway/access';
import { jsonBytes } from '../plan/plan';
import type { SolveResult } from '../protocol/solve';
import type { Store } from '../store/store';
import { type ToldSolve, toldSolveSchema } from '../trace/told-solve';
import { budgetsOf, namespaceHolder } from './budget';
import type { NexusCallers } from './callers';
import { type NexusActivities, type NexusEnd, type NexusFailure, TELL_CALLER } from './names';

/** Longest answer, in bytes of its JSON, that an operation returns: Temporal refuses payloads of 2 MiB. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Returns the activities of the workflows that other namespaces start. */
export function createNexusActivities({
  callers,
  store,
}: {
  readonly callers: NexusCallers;
  readonly store: Store;
}): NexusActivities {
  return {
    [TELL_CALLER]: async ({ id, caller }) => {
      const { client } = Context.current();
      const solve = await unlessNotFound(new ConductorClient({ client, store }).attach(id));
      if (solve === null) return { failure: { type: 'NotStarted', message: `solve ${id} was not started` } };
      const result = await solve.result();
      await budgetsOf(client, store).settle(namespaceHolder(caller, callers), id, result);
      return endOf(result);
    },
  };
}

function endOf(result: SolveResult): NexusEnd {
  const { id, answer } = result;
  if (answer === null) {
    const { code, message } = refusalOfRun(result);
    return { failure: { type: code, message } };
  }
  const failure = whyTooLong({ id, answer });
  return failure === null ? { answer: { ...toldSolveSchema.parse(result), answer } } : { failure };
}

/** Returns why an answer is too long for an operation's result, or null. */
export function whyTooLong({ id, answer }: Pick<ToldSolve, 'id' | 'answer'>): NexusFailure | null {
  const bytes = jsonBytes(answer ?? '');
  if (bytes <= MAX_ANSWER_BYTES) return null;
  const message = `the answer of solve ${id} has ${bytes} bytes in JSON, and an operation returns at most ${MAX_ANSWER_BYTES}: ask for a shorter one (maxAnswerTokens), or read it in the team's namespace`;
  return { type: 'AnswerTooLong', message };
}
