import type { Message } from '../protocol/message';
import { conductorRules, type RulesInput } from './prompt/rules';

export interface ConductorPrompt extends RulesInput {
  readonly question: string;
  /** Replies that were no plan, oldest first, each with the message of its `PlanError`. */
  readonly repairs: readonly { readonly reply: string; readonly problem: string }[];
}

/**
 * What the Conductor is asked: the rules, the question, and each failed reply with what was wrong with it.
 *
 * The part that every question to one pool shares comes first, and a repair only appends, so that a provider's prompt
 * cache serves both.
 */
export function conductorMessages(prompt: ConductorPrompt): Message[] {
  const repairs = prompt.repairs.flatMap(({ reply, problem }): Message[] => [
    { role: 'assistant', text: clipped(reply) },
    { role: 'user', text: `This reply holds no valid plan.\n\n${problem}\n\n${AGAIN}` },
  ]);
  return [
    { role: 'system', text: conductorRules(prompt) },
    { role: 'user', text: `Write a plan for this question:\n\n${prompt.question}` },
    ...repairs,
  ];
}

const AGAIN = 'Correct this and write the whole reply again.';

/** How much of a failed reply is shown, in characters: a model that never stopped must not fill its own context. */
const SHOWN = 4000;

function clipped(reply: string): string {
  // Vendors refuse a message without text.
  if (reply.trim() === '') return '(no text)';
  if (reply.length <= SHOWN) return reply;
  return `${reply.slice(0, SHOWN / 2)}\n…\n${reply.slice(-SHOWN / 2)}`;
}
