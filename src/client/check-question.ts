import { ConductorError } from '../errors';
import { jsonBytes } from '../plan/plan';
import { type ConversationTurn, MAX_TURNS, type SolveInput } from '../protocol/input';
import { MAX_QUESTION_BYTES } from '../protocol/solve';
import { INLINE_BYTES } from '../protocol/text';
import type { Store } from '../store/store';
import { keepConversation } from '../store/conversations';
import { keepText } from '../store/texts';

export class BadQuestionError extends ConductorError {
  override readonly name = 'BadQuestionError';
  readonly code = 'BadQuestion';
}

/** A question, or a conversation whose last turn is one. */
export type AskedRequest =
  | { readonly question: string; readonly messages?: undefined }
  | { readonly messages: readonly ConversationTurn[]; readonly question?: undefined };

/**
 * Returns the question of a request; called before anything is started.
 * @throws BadQuestionError for an empty question or turn, a conversation that does not end with one or has too many
 *   turns, or over 1 MiB
 */
export function checkAsked({ question, messages }: AskedRequest): string {
  if (messages === undefined) return checkText('the question', question, question);
  const last = messages.at(-1);
  if (last?.role !== 'user') {
    const found = last === undefined ? 'has no turn' : `ends with a turn of role ${last.role}`;
    throw new BadQuestionError(`the conversation ${found}: end it with the question, a turn of role user`);
  }
  if (messages.length > MAX_TURNS) {
    const rule = `at most ${MAX_TURNS} are accepted: join short ones, or give those that matter`;
    throw new BadQuestionError(`the conversation has ${messages.length} turns; ${rule}`);
  }
  const isBlank = messages.findIndex(({ content }) => content.trim() === '');
  if (isBlank !== -1) {
    throw new BadQuestionError(`turn ${isBlank + 1} of the conversation is empty: leave it out`);
  }
  return checkText('the conversation', last.content, JSON.stringify(messages));
}

function checkText(what: string, question: string, all: string): string {
  if (question.trim() === '') {
    throw new BadQuestionError(`${what} is empty: give one with at least a word`);
  }
  const bytes = Buffer.byteLength(all);
  if (bytes <= MAX_QUESTION_BYTES) return question;
  const rule = `at most ${MAX_QUESTION_BYTES} are accepted: shorten it, or give the part that matters`;
  throw new BadQuestionError(`${what} has ${bytes} bytes; ${rule}`);
}

/** Moves a long question or conversation to the store, as one text, so that the input is short whatever was asked. */
export async function keepAsked(
  store: Store,
  { question, messages }: AskedRequest,
): Promise<Pick<SolveInput, 'question' | 'messages' | 'conversation'>> {
  if (messages === undefined) return { question: await keepText(store, question) };
  if (jsonBytes(messages) <= INLINE_BYTES) return { messages };
  const before = messages.slice(0, -1);
  return {
    question: await keepText(store, messages.at(-1)?.content ?? ''),
    ...(before.length > 0 && { conversation: await keepConversation(store, before) }),
  };
}
