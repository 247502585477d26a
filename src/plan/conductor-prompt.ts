import type { Message } from '../protocol/message';
import { CONDUCTOR_ID } from '../protocol/names';
import type { Plan } from './plan';
import { fenceAround } from './prompt/fence';
import { conductorRules, type RulesInput } from './prompt/rules';
import { renderPlan } from './render';
import { renderPlanAsJson } from './render-json';
import { showGiven, type GivenText } from './worker-prompt';

export interface ConductorPrompt extends RulesInput {
  readonly question: string;
  /** What is given with a question that another plan of the Conductor's asks. */
  readonly background?: readonly GivenText[];
  /** The plan that was carried out, and what came of it: to be accepted or improved. */
  readonly review?: { readonly plan: Plan; readonly answer: string };
  /** What the operator wants to be minded, oldest first. */
  readonly hints?: readonly string[];
  /** Replies that did not do, oldest first. */
  readonly repairs: readonly FailedAttempt[];
}

/** A reply that was no plan, with the message of its `PlanError`; or a plan that a person rejected, and why. */
interface FailedAttempt {
  readonly reply: string;
  readonly problem: string;
  readonly isRejected?: boolean;
}

/**
 * What the Conductor is asked: the rules, the question, what became of its last plan where it reviews one, and each
 * failed reply with what was wrong with it.
 *
 * The part that every question to one pool shares comes first, a review repeats the first conversation, and a repair
 * only appends, so that a provider's prompt cache serves them all. The form of a review is the paper's (its figure 14):
 * the earlier plan as the Conductor's own turn, then its outcome.
 */
export function conductorMessages(prompt: ConductorPrompt): Message[] {
  const repairs = prompt.repairs.flatMap((attempt): Message[] => [
    { role: 'assistant', text: clipped(attempt.reply) },
    { role: 'user', text: wrongWith(attempt) },
  ]);
  const asked = [...questionOf(prompt), ...(prompt.review === undefined ? [hintsOf(prompt)] : [])].filter(
    (part) => part !== '',
  );
  return [
    { role: 'system', text: conductorRules(prompt) },
    { role: 'user', text: asked.join('\n\n') },
    ...reviewOf(prompt),
    ...repairs,
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
    hintsOf(prompt),
    REVIEW[format],
  ];
  return [
    { role: 'assistant', text: earlierPlan(review.plan, prompt) },
    { role: 'user', text: told.filter((part) => part !== '').join('\n\n') },
  ];
}

/** The plan as the Conductor would have written it, whoever of its workers may have left the pool since. */
function earlierPlan(plan: Plan, { workers, format }: ConductorPrompt): string {
  const known = [...workers.map(({ id }) => id), CONDUCTOR_ID];
  const strangers = plan.steps.map(({ worker }) => worker).filter((worker) => !known.includes(worker));
  const ids = [...known, ...strangers];
  return format === 'json' ? renderPlanAsJson(plan, ids) : renderPlan(plan, ids);
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

function hintsOf({ hints = [] }: ConductorPrompt): string {
  if (hints.length === 0) return '';
  return ['The person who asked wants you to mind this:', ...hints.map((hint) => `- ${hint}`)].join('\n');
}

function wrongWith({ problem, isRejected = false }: FailedAttempt): string {
  return isRejected
    ? `The person who asked does not want this plan.\n\n${problem}\n\nWrite another one.`
    : `This reply holds no valid plan.\n\n${problem}\n\nCorrect this and write the whole reply again.`;
}

/** How much of a failed reply is shown, in characters: a model that never stopped must not fill its own context. */
const SHOWN = 4000;

function clipped(reply: string): string {
  // Vendors refuse a message without text.
  if (reply.trim() === '') return '(no text)';
  if (reply.length <= SHOWN) return reply;
  return `${reply.slice(0, SHOWN / 2)}\n…\n${reply.slice(-SHOWN / 2)}`;
}
