import type { Layout, Message } from '../plan';

/** Text that every worker of a child solve may see. */
export interface GivenText {
  /** null: the answer so far, which a review may improve. */
  readonly subtask: string | null;
  readonly output: string;
}

export interface WorkerPrompt {
  readonly question: string;
  readonly subtask: string;
  readonly background?: readonly GivenText[];
  /** The steps that the worker may see, with their numbers in the plan, from 0. */
  readonly sees: readonly { readonly step: number; readonly subtask: string; readonly output: string }[];
  readonly layout: Layout;
  /** Owner's instructions to this worker, before anything else. */
  readonly instructions?: string | undefined;
}

/** What a worker is sent. What more calls of a run share comes earlier, for the sake of prompt caches. */
export function workerMessages(prompt: WorkerPrompt): Message[] {
  const { question, subtask, sees, layout, instructions } = prompt;
  const seen = sees.filter(({ output }) => output.trim() !== '');
  const fence = fenceOf(prompt);
  const turns: Message[] = [];
  const isPlain = layout === 'plain';
  let parts = beginningOf(prompt, fence);
  for (const { step, subtask, output } of seen) {
    const asked = isPlain ? subtask : `Member ${step}:\n${fence('subtask', subtask)}`;
    if (layout === 'tagged') parts.push(`${asked}\n${fence('answer', output)}`);
    else {
      turns.push({ role: 'user', text: [...parts, asked].join('\n\n') }, { role: 'assistant', text: output });
      parts = [];
    }
  }
  parts.push(...(isPlain ? [subtask, question] : [fence('your_subtask', subtask)]));
  const system: Message[] = instructions === undefined ? [] : [{ role: 'system', text: instructions }];
  return [...system, ...turns, { role: 'user', text: parts.join('\n\n') }];
}

/** How many characters at the start of the first user message are sent with each step of the same solve as well. */
export function sharedCharacters(prompt: WorkerPrompt): number {
  return beginningOf(prompt, fenceOf(prompt)).join('\n\n').length;
}

function beginningOf({ question, background = [], layout }: WorkerPrompt, fence: Fence): string[] {
  const given = background.filter(({ output }) => output.trim() !== '');
  return [
    ...(layout === 'plain' ? [] : [PREAMBLE, fence('question', question)]),
    ...given.map((text) => showGiven(text, fence)),
  ];
}

function fenceOf({ question, subtask, background = [], sees }: WorkerPrompt): Fence {
  const shown = [...background, ...sees].filter(({ output }) => output.trim() !== '');
  return fenceAround([question, subtask, ...shown.flatMap((text) => [text.subtask ?? '', text.output])]);
}

const PREAMBLE =
  'You are one member of a team that answers a question together. Each member has a subtask; yours comes last. ' +
  'Answers of other members that you are shown may help you and may be wrong: use what is right and correct what is ' +
  'not. Carry out your own subtask only.';

export function showGiven({ subtask, output }: GivenText, fence: Fence): string {
  if (subtask === null) return `The answer so far:\n${fence('answer', output)}`;
  return `Known before:\n${fence('subtask', subtask)}\n${fence('answer', output)}`;
}

export type Fence = (tag: string, text: string) => string;

/** Any opening or closing tag of ours, in any case and however spaced; group 1 is the mark that tells fences apart. */
const TAG = /<[\s/]{0,8}(?:question|subtask|answer|your_subtask)(-\d{1,9})?\b/giu;

/** A fence that no text can climb: `<answer>…</answer>`, or `<answer-2>…` with the first number that no text uses. */
export function fenceAround(texts: readonly string[]): Fence {
  const taken = new Set(texts.flatMap((text) => [...text.matchAll(TAG)].map(([, mark = '']) => mark)));
  let mark = '';
  for (let number = 2; taken.has(mark); number += 1) mark = `-${number}`;
  return (tag, text) => `<${tag}${mark}>\n${text}\n</${tag}${mark}>`;
}
