import type { Message } from '../../protocol/message';
import { showGiven } from '../worker-prompt';
import { earlierPlan } from './earlier-plan';
import { fenceAround } from './fence';
import { hintsOf } from './hints';
import type { ConductorPrompt } from './prompt';
import { repairTurns } from './repair-turns';
import type { RulesInput } from './rules';

/**
 * The Conductor's prompt without a word of instruction: the question and one `Model id N` line a worker, as the paper's
 * list of models (its figure 13), for a policy that knows by training what a plan is.
 *
 * A review shows the earlier plan as the Conductor's own turn, then the answer that it came to. Hints, given texts and
 * repairs, which no such policy was trained on, are said as in the full prompt.
 */
export function compactMessages(prompt: ConductorPrompt): Message[] {
  const { question, background = [], review, hints, repairs } = prompt;
  const given = review === undefined ? background : background.filter(({ subtask }) => subtask !== null);
  const fence = fenceAround(given.flatMap(({ subtask, output }) => [subtask ?? '', output]));
  const asked = [question, ...given.map((text) => showGiven(text, fence)), team(prompt)];
  const end: Message[] =
    review === undefined
      ? []
      : [
          { role: 'assistant', text: earlierPlan(review.plan, prompt) },
          { role: 'user', text: lines([`Answer: ${review.answer}`, hintsOf(hints)]) },
        ];
  return [
    { role: 'user', text: lines([...asked, review === undefined ? hintsOf(hints) : '']) },
    ...end,
    ...repairTurns(repairs),
  ];
}

/**
 * Beside its ordinal a worker shows its id or its notes, never both: a policy that shall read what workers are good at
 * must not be able to go by their names instead.
 */
function team({ workers, describe, mayCallItself = false }: RulesInput): string {
  const told = workers.map(
    ({ id, notes }) => ({ ordinals: null, names: id, notes: oneLine(notes) })[describe],
  );
  const all = mayCallItself ? [...told, 'yourself'] : told;
  const members = all.map((remark, ordinal) => `Model id ${ordinal}${remark === null ? '' : `: ${remark}`}`);
  return lines(['Workers:', ...members]);
}

function oneLine(notes: string | null): string | null {
  return notes?.replace(/\s+/g, ' ').trim() ?? null;
}

function lines(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n');
}
