import type { Message } from '../protocol/message';
import { compactMessages } from './prompt/compact';
import { earlierPlan } from './prompt/earlier-plan';
import { fenceAround } from './prompt/fence';
import { hintsOf } from './prompt/hints';
import type { ConductorPrompt } from './prompt/prompt';
import { repairTurns } from './prompt/repair-turns';
import { conductorRules } from './prompt/rules';
import { showGiven } from './worker-prompt';

export type { ConductorPrompt };

/**
 * What the Conductor is asked: the rules, the question, what became of its last plan where it reviews one, and each
 * failed reply with what was wrong with it.
 *
 * The part that every question to one pool shares comes first, a review repeats the first conversation, and a repair
 * only appends, so that a provider's prompt cache serves them all. The form of a review is the paper's (its figure 14):
 * the earlier plan as the Conductor's own turn, then its outcome.
 */
export function conductorMessages(prompt: ConductorPrompt): Message[] {
  if (prompt.style === 'compact') return compactMessages(prompt);
  const asked = [
    ...questionOf(prompt),
    ...(prompt.review === undefined ? [hintsOf(prompt.hints)] : []),
  ].filter((part) => part !== '');
  return [
    { role: 'system', text: conductorRules(prompt) },
    { role: 'user', text: asked.join('\n\n') },
    ...reviewOf(prompt),
    ...repairTurns(prompt.repairs),
  ];
}

function questionOf({ question, background = [], review }: ConductorPrompt): string[] {
  const given = review === undefined ? background : background.filter(({ subtask }) => subtask !== null);
  const fence = fenceAround(given.flatMap(({ subtask, output }) => [subtask ?? '', output]));
  const shown = given.map((text) => showGiven(text, fence));
  return [
    `Write a plan for this question:\n\n${question}`,
    ...(shown.length === 0 ? [] : ['Every worker is also shown this:', ...shown]),
  ];
}

function reviewOf(prompt: ConductorPrompt): Message[] {
  const { review, format } = prompt;
  if (review === undefined) return [];
  const fence = fenceAround([review.answer]);
  const told = [
    'Your team carried this plan out.',
    showGiven({ subtask: null, output: review.answer }, fence),
    hintsOf(prompt.hints),
    REVIEW[format],
  ];
  return [
    { role: 'assistant', text: earlierPlan(review.plan, prompt) },
    { role: 'user', text: told.filter((part) => part !== '').join('\n\n') },
  ];
}

const REVIEW = {
  lists:
    'If this answer is right and complete, accept it: reply with three empty lists. If it can be made better, reply ' +
    'with a new plan that corrects it; every worker of that plan is shown the answer so far, and the output of its ' +
    'last step replaces it.',
  json:
    'If this answer is right and complete, accept it: reply with an empty list of steps. If it can be made better, ' +
    'reply with a new plan that corrects it; every worker of that plan is shown the answer so far, and the output of ' +
    'its last step replaces it.',
} as const;
