import type { Message } from '../plan';

export type Fence = (tag: string, text: string) => string;

/** Any of our opening or closing tags, in any case and spacing; group 1 is the mark that tells fences apart. */
const TAG =
  /<[\s/]{0,8}(?:question|subtask|answer|your_subtask|answer_schema|arguments|result|system|user|assistant)(-\d{1,9})?\b/giu;

/** Returns a fence that no text can close: `<answer>…</answer>`, or `<answer-2>…` with the first number not in use. */
export function fenceAround(texts: readonly string[]): Fence {
  const taken = new Set(texts.flatMap((text) => [...text.matchAll(TAG)].map(([, mark = '']) => mark)));
  let mark = '';
  for (let number = 2; taken.has(mark); number += 1) mark = `-${number}`;
  return (tag, text) => `<${tag}${mark}>\n${text}\n</${tag}${mark}>`;
}

/** Turn of a conversation. */
export type SaidTurn = Pick<Message, 'role' | 'calls'> & { readonly content: string };

/** The question with its conversation and answer schema, as full texts. */
export interface AskedTexts {
  readonly question: string;
  /** Turns before the question, oldest first. */
  readonly conversation?: readonly SaidTurn[];
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
