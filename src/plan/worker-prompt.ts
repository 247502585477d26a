import type { Message } from '../protocol/message';
import { fenceAround } from './prompt/fence';

/** A step that the worker may see. */
export interface SeenStep {
  /** Its number in the plan, from 0. */
  readonly step: number;
  readonly subtask: string;
  readonly output: string;
}

export interface WorkerPrompt {
  readonly question: string;
  readonly subtask: string;
  readonly sees: readonly SeenStep[];
  /** `tagged`: everything in one user message, as the paper does. `chat`: seen steps as turns of a conversation. */
  readonly layout: 'tagged' | 'chat';
}

/**
 * What a worker is sent: the whole question, the subtasks and outputs it may see, its own subtask, and nothing else.
 *
 * What more calls of a run share comes earlier, for the sake of prompt caches. A step whose output is empty has
 * nothing to show and is left out.
 */
export function workerMessages({ question, subtask, sees, layout }: WorkerPrompt): Message[] {
  const seen = sees.filter(({ output }) => output.trim() !== '');
  return layout === 'tagged' ? tagged(question, seen, subtask) : conversation(question, seen, subtask);
}

const PREAMBLE =
  'You are one member of a team that answers a question together. Each member has a subtask; yours comes last. ' +
  'Answers of other members that you are shown may help you and may be wrong: use what is right and correct what is ' +
  'not. Carry out your own subtask only.';

function tagged(question: string, seen: readonly SeenStep[], subtask: string): Message[] {
  const fence = fenceAround([question, subtask, ...seen.flatMap((step) => [step.subtask, step.output])]);
  const parts = [
    PREAMBLE,
    fence('question', question),
    ...seen.map(
      (step) => `Member ${step.step}:\n${fence('subtask', step.subtask)}\n${fence('answer', step.output)}`,
    ),
    fence('your_subtask', subtask),
  ];
  return [{ role: 'user', text: parts.join('\n\n') }];
}

/** Each seen step is a turn of its own: its subtask was asked, its output was said. */
function conversation(question: string, seen: readonly SeenStep[], subtask: string): Message[] {
  const fence = fenceAround([question, subtask, ...seen.map((step) => step.subtask)]);
  const opening = `${PREAMBLE}\n\n${fence('question', question)}\n\n`;
  const turns = seen.flatMap((step, index): Message[] => [
    {
      role: 'user',
      text: `${index === 0 ? opening : ''}Member ${step.step}:\n${fence('subtask', step.subtask)}`,
    },
    { role: 'assistant', text: step.output },
  ]);
  const own = fence('your_subtask', subtask);
  return [...turns, { role: 'user', text: turns.length === 0 ? opening + own : own }];
}
