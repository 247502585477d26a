import type { Message } from '../plan';
import type { Fence } from './fence';

type Turn = Pick<Message, 'role'> & { readonly content: string };

/** The question with its conversation and answer schema, as full texts. */
export interface AskedTexts {
  readonly question: string;
  /** Turns before the question, oldest first. */
  readonly conversation?: readonly Turn[];
  /** JSON of the schema that the answer must fit; given to a worker only if its output is the answer. */
  readonly answerSchema?: string;
}

/** Returns the texts besides the question, for `fenceAround`. */
export function textsOfAsked({ conversation = [], answerSchema = '' }: AskedTexts): string[] {
  return [...conversation.map(({ content }) => content), answerSchema];
}

/** Returns the turns before a question as parts of one message. */
export function showConversation({ conversation = [] }: AskedTexts, fence: Fence): string[] {
  if (conversation.length === 0) return [];
  return ['The conversation so far:', ...conversation.map(({ role, content }) => fence(role, content))];
}

/** Returns the schema of the answer after a rule for its reader, or nothing if any text will do. */
export function showAnswerSchema({ answerSchema }: AskedTexts, rule: string, fence: Fence): string[] {
  return answerSchema === undefined ? [] : [`${rule}\n${fence('answer_schema', answerSchema)}`];
}
