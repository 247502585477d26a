import { ConductorError } from '../errors';
import type { ConversationTurn, SolveInput } from '../protocol/input';
import { MAX_QUESTION_BYTES } from '../protocol/solve';
import { INLINE_BYTES } from '../protocol/text';
import type { Store } from '../store/store';
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
 * @throws BadQuestionError for an empty question or turn, a conversation that does not end with one, or over 1 MiB
 */
export function checkAsked({ question, messages }: AskedRequest): string {
  if (messages === undefined) return checkText('the question', question, question);
  const last = messages.at(-1);
  if (last?.role !== 'user') {
    const found = last === undefined ? 'has no turn' : `ends with a turn of role ${last.role}`;
    throw new BadQuestionError(`the conversation ${found}: end it with the question, a turn of role user`);
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

/** Moves long texts to the store, so that the input is short however many turns it has. */
export async function keepAsked(
  store: Store,
  { question, messages }: AskedRequest,
): Promise<Pick<SolveInput, 'question' | 'messages'>> {
  if (messages === undefined) return { question: await keepText(store, question) };
  const inlineBytes = INLINE_BYTES / messages.length;
  const turns = messages.map(async ({ role, content }) => ({
    role,
    content: await keepText(store, content, inlineBytes),
  }));
  return { messages: await Promise.all(turns) };
}
