import type { Layout, Message } from '../plan';
import {
  type AskedTexts,
  type Fence,
  fenceAround,
  showAnswerSchema,
  showConversation,
  textsOfAsked,
} from './fences';

/** Text that every worker of a solve may see besides the steps of its plan. */
export interface GivenText {
  /** null: `output` is the answer so far, which a review may improve. */
  readonly subtask: string | null;
  readonly output: string;
}

export interface WorkerPrompt extends AskedTexts {
  readonly subtask: string;
  readonly background?: readonly GivenText[];
  /** Steps that the worker may see, with their numbers in the plan, from 0. */
  readonly sees: readonly { readonly step: number; readonly subtask: string; readonly output: string }[];
  /** Tools that another worker called for this subtask, before it failed. */
  readonly earlierCalls?: readonly {
    readonly name: string;
    readonly input: string;
    readonly output: string;
  }[];
  readonly layout: Layout;
  /** The owner's instructions to this worker, sent before anything else. */
  readonly instructions?: string | undefined;
  /** Earlier answer of this worker that did not fit the schema, and why. */
  readonly failed?: { readonly reply: string; readonly problem: string } | undefined;
}

/** Returns a worker's messages. For prompt caches, parts that more calls of a run share come earlier. */
export function workerMessages(prompt: WorkerPrompt): Message[] {
  const { layout, instructions, conversation = [], failed } = prompt;
  const before = isConversationTagged(prompt) ? [] : conversation;
  return [
    ...(instructions === undefined ? [] : [{ role: 'system', text: instructions } as const]),
    ...before.map(({ role, content, calls }): Message => ({ role, text: content, ...(calls && { calls }) })),
    ...(layout === 'plain' ? plainTurns(prompt) : teamTurns(prompt)),
    ...repairOf(failed),
  ];
}

function teamTurns(prompt: WorkerPrompt): Message[] {
  const fence = fenceOf(prompt);
  const turns: Message[] = [];
  let parts = beginningOf(prompt, fence);
  for (const { step, subtask, output } of visibleIn(prompt)) {
    const asked = `Member ${step}:\n${fence('subtask', subtask)}`;
    if (prompt.layout === 'tagged') parts.push(`${asked}\n${fence('answer', output)}`);
    else {
      turns.push({ role: 'user', text: [...parts, asked].join('\n\n') }, { role: 'assistant', text: output });
      parts = [];
    }
  }
  parts.push(
    ...showCalls(prompt, fence),
    fence('your_subtask', prompt.subtask),
    ...showAnswerSchema(prompt, ANSWER_RULE, fence),
  );
  return [...turns, { role: 'user', text: parts.join('\n\n') }];
}

/** Shows the question once: in the turn of the first step without a subtask, which was asked it, or at the end. */
function plainTurns(prompt: WorkerPrompt): Message[] {
  const { question, subtask } = prompt;
  const fence = fenceOf(prompt);
  const seen = visibleIn(prompt);
  const bare = seen.findIndex((step) => step.subtask === '');
  const turns: Message[] = [];
  let parts = beginningOf(prompt, fence);
  for (const [place, step] of seen.entries()) {
    const asked = place === bare ? question : step.subtask || AGAIN;
    turns.push(
      { role: 'user', text: [...parts, asked].join('\n\n') },
      { role: 'assistant', text: step.output },
    );
    parts = [];
  }
  parts.push(
    ...showCalls(prompt, fence),
    subtask,
    bare === -1 ? question : '',
    ...showAnswerSchema(prompt, ANSWER_RULE, fence),
  );
  return [...turns, { role: 'user', text: parts.filter((part) => part !== '').join('\n\n') || AGAIN }];
}

/** A call may have had an effect, so whoever takes over is told of each. */
function showCalls({ earlierCalls = [] }: WorkerPrompt, fence: Fence): string[] {
  return earlierCalls.map(
    ({ name, input, output }) =>
      `Before you, another member called ${name} for this:\n${fence('subtask', input)}\nIts result:\n${fence('answer', output)}`,
  );
}

function visibleIn({ sees }: WorkerPrompt): WorkerPrompt['sees'] {
  return sees.filter(({ output }) => output.trim() !== '');
}

/** Request for a turn that would be empty: vendors refuse a message without text. */
const AGAIN = 'Answer once more.';

const ANSWER_RULE =
  'Your reply is the answer to the question. It must be JSON that fits this schema: write that JSON and nothing else, no ' +
  'code fence around it.';

export function repairOf(failed: WorkerPrompt['failed']): Message[] {
  if (failed === undefined) return [];
  const { reply, problem } = failed;
  const asked = `This reply cannot be used: ${problem}.\n\nCorrect it, and write all of the JSON again and nothing else.`;
  return [
    { role: 'assistant', text: reply },
    { role: 'user', text: asked },
  ];
}

/** Returns how many characters at the start of the turns are the same for each step of a solve. */
export function sharedCharacters(prompt: WorkerPrompt): number {
  const { conversation = [] } = prompt;
  const turns = isConversationTagged(prompt) ? [] : conversation;
  const plain = turns.filter(({ role, calls }) => role !== 'system' && calls === undefined);
  const beginning = beginningOf(prompt, fenceOf(prompt)).join('\n\n');
  return plain.reduce((sum, { content }) => sum + content.length, beginning.length);
}

/** Whether earlier turns stand in the one message, too; never with calls, which models read as turns alone. */
function isConversationTagged({ layout, conversation = [] }: WorkerPrompt): boolean {
  return layout === 'tagged' && conversation.every(({ calls }) => calls === undefined);
}

function beginningOf(prompt: WorkerPrompt, fence: Fence): string[] {
  const { question, background = [], layout } = prompt;
  const given = background.filter(({ output }) => output.trim() !== '');
  return [
    ...(layout === 'plain' ? [] : [PREAMBLE]),
    ...(isConversationTagged(prompt) ? showConversation(prompt, fence) : []),
    ...(layout === 'plain' ? [] : [fence('question', question)]),
    ...given.map((text) => showGiven(text, fence)),
  ];
}

function fenceOf(prompt: WorkerPrompt): Fence {
  const { question, subtask, background = [], sees, earlierCalls = [] } = prompt;
  const called = earlierCalls.flatMap(({ input, output }) => [input, output]);
  const shown = [...background, ...sees].filter(({ output }) => output.trim() !== '');
  const texts = shown.flatMap((text) => [text.subtask ?? '', text.output]);
  return fenceAround([question, subtask, ...textsOfAsked(prompt), ...texts, ...called]);
}

const PREAMBLE =
  'You are one member of a team that answers a question together. Each member has a subtask; yours comes last. ' +
  'Answers of other members that you are shown may help you and may be wrong: use what is right and correct what is ' +
  'not. Carry out your own subtask only.';

export function showGiven({ subtask, output }: GivenText, fence: Fence): string {
  if (subtask === null) return `The answer so far:\n${fence('answer', output)}`;
  return `Known before:\n${fence('subtask', subtask)}\n${fence('answer', output)}`;
}
