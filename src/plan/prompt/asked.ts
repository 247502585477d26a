import type { Message } from '../plan';
import type { Fence } from './fence';

type Turn = Pick<Message, 'role'> & { readonly content: string };

/** What was asked, with its texts whole. */
export interface AskedTexts {
  readonly question: string;
  /** The turns before the question, oldest first. */
  readonly conversation?: readonly Turn[];
  /** JSON of the schema that the answer must fit; for a worker, where its output is the answer. */
  readonly answerSchema?: string;
}

/** Its texts besides the question, for a fence to hold. */
export function textsOfAsked({ conversation = [], answerSchema = '' }: AskedTexts): string[] {
  return [...conversation.map(({ content }) => content), answerSchema];
}

/** The turns before a question as parts of one message; none where there are none. */
export function showConversation({ conversation = [] }: AskedTexts, fence: Fence): string[] {
  if (conversation.length === 0) return [];
  return ['The conversation so far:', ...conversation.map(({ role, content }) => fence(role, content))];
}

/** The form of the answer, with the rule for whoever reads it; none where any text will do. */
export function showAnswerSchema({ answerSchema }: AskedTexts, rule: string, fence: Fence): string[] {
  return answerSchema === undefined ? [] : [`${rule}\n${fence('answer_schema', answerSchema)}`];
}
