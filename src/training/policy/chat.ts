import type { Message } from '../../plan/plan';
import type { TrainingTurn } from '../records';
import type { Chat } from '../trainer-contract';

// Prompts are written by the model's own chat template, on the policy server. `chat.py` prepares the messages of
// examples in the same way; a night's first prompts are compared.

/** How to address a checkpoint: `chatml` if an earlier version made it, all of whose models had these markers. */
export type Addressing = Chat | 'chatml';

const CHATML: Chat = { markers: ['<|im_start|>', '<|im_end|>', '<|endoftext|>'], ends: [], system: true };

const factsOf = (chat: Addressing): Chat => (chat === 'chatml' ? CHATML : chat);

/** Returns the ids of the tokens that end a reply; empty if the server alone knows them. */
export const endsOf = (chat: Addressing): readonly number[] => factsOf(chat).ends;

/** Returns messages as examples keep them. Replaces lone surrogates by U+FFFD: they are in no vocabulary. */
export function toTurns(messages: readonly Message[]): TrainingTurn[] {
  return messages.map(({ role, text }) => ({ role, content: wellFormed(text) }));
}

export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');

/**
 * Returns turns as a model's template is given them: no text holds a marker, which could forge a turn. If the template
 * has no system turn, its text begins the first turn.
 */
export function prepareTurns(chat: Addressing, turns: readonly TrainingTurn[]): TrainingTurn[] {
  const { markers, system } = factsOf(chat);
  const broken = turns.map((turn) => ({ ...turn, content: breakMarkers(turn.content, markers) }));
  const [rules, first, ...others] = broken;
  if (system || rules?.role !== 'system' || first === undefined) return broken;
  return [{ ...first, content: `${rules.content}\n\n${first.content}` }, ...others];
}

/** Puts a blank after the first character of every marker, in one pass however many and long both are. */
function breakMarkers(text: string, markers: readonly string[]): string {
  const known = new Set(markers);
  const firsts = new Set(markers.map(([first]) => first));
  const lengths = [...new Set(markers.map(({ length }) => length))];
  return text.replace(/[^]/gu, (each, at: number) => {
    const begins = firsts.has(each) && lengths.some((length) => known.has(text.slice(at, at + length)));
    return begins ? `${each} ` : each;
  });
}
