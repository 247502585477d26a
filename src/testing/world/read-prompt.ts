import type { Work } from './chance';
import { numbersIn, readQuestion, type WorldQuestion } from './question-text';
import type { World } from './world';

/** What a worker of the world understands of its prompt. */
export interface ReadPrompt extends WorldQuestion {
  readonly subtask: string;
  /** Earlier replies that it is shown, oldest first. */
  readonly seen: readonly Work[];
}

/**
 * Reads the tagged prompt of a worker (see `plan/worker-prompt.ts`): question, own subtask, and each reply shown. What a
 * reply is worth is read off its text alone, so that correctness travels as it does between real models.
 *
 * @throws RangeError where it is no such prompt, or not about this world
 */
export function readPrompt(world: World, text: string): ReadPrompt {
  const [, mark = ''] = /<question(-\d+)?>\n/.exec(text) ?? [];
  const question = readQuestion(world, onlyIn(text, `question${mark}`));
  return {
    ...question,
    subtask: onlyIn(text, `your_subtask${mark}`),
    seen: allIn(text, `answer${mark}`).flatMap((reply) => workIn(reply, question)),
  };
}

/** The number that a reply states as its answer: the last one, as graders read it. */
export function answerIn(reply: string): number | null {
  const [, number] = [...reply.matchAll(/<answer>\s*(-?\d+)\s*<\/answer>/g)].at(-1) ?? [];
  return number === undefined ? null : Number(number);
}

/** What a reply of a worker begins with. */
export const PLAN = 'Plan: add';
export const REVISED = 'Revised:';

function workIn(reply: string, { a, b }: WorldQuestion): Work[] {
  const answer = answerIn(reply);
  if (answer !== null)
    return [{ is: 'answer', isGood: answer === a + b, isRevision: reply.startsWith(REVISED) }];
  if (!reply.startsWith(PLAN)) return [];
  const [first, second] = numbersIn(reply);
  return [{ is: 'plan', isGood: first === a && second === b }];
}

function onlyIn(text: string, tag: string): string {
  const [found] = allIn(text, tag);
  if (found !== undefined) return found;
  throw new RangeError(`This is no prompt of a worker of the world: it has no <${tag}>.\n${text}`);
}

function allIn(text: string, tag: string): string[] {
  return [...text.matchAll(new RegExp(`<${tag}>\\n(.*?)\\n</${tag}>`, 'gs'))].map(([, inner = '']) => inner);
}
