import { CONDUCTOR_ID } from '../../protocol/names';
import { renderPlanAsJson } from '../json';
import type { Message } from '../message';
import type { Plan } from '../plan';
import { renderPlan } from '../render';
import { conductorRules, type RulesInput } from './rules';
import { fenceAround, type GivenText, showGiven } from './worker';

/** Everything that the Conductor is told in one call, whatever form it is told in. */
export interface ConductorPrompt extends RulesInput {
  readonly question: string;
  /** `full`: with rules and examples; `compact`: without, for a policy that learned them. @default 'full' */
  readonly style?: 'full' | 'compact';
  /** What is given with a question that another plan of the Conductor's asks. */
  readonly background?: readonly GivenText[];
  /** The plan that was carried out, and what came of it: to be accepted or improved. */
  readonly review?: { readonly plan: Plan; readonly answer: string };
  /** What the operator wants to be minded, oldest first. */
  readonly hints?: readonly string[];
  /** Replies that did not do, oldest first. */
  readonly repairs: readonly FailedAttempt[];
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

/** A plan as the Conductor would have written it, whoever of its workers may have left the pool since. */
function earlierPlan(plan: Plan, { workers, format }: Pick<RulesInput, 'workers' | 'format'>): string {
  const known = [...workers.map(({ id }) => id), CONDUCTOR_ID];
  const strangers = plan.steps.map(({ worker }) => worker).filter((worker) => !known.includes(worker));
  const ids = [...known, ...strangers];
  return format === 'json' ? renderPlanAsJson(plan, ids) : renderPlan(plan, ids);
}

/** A reply that was no plan, with the message of its `PlanError`; or a plan that a person rejected, and why. */
export interface FailedAttempt {
  readonly reply: string;
  readonly problem: string;
  readonly isRejected?: boolean;
}

/** Each failed reply as the Conductor's own turn, and what was wrong with it; oldest first. */
function repairTurns(attempts: readonly FailedAttempt[]): Message[] {
  return attempts.flatMap((attempt): Message[] => [
    { role: 'assistant', text: clipped(attempt.reply) },
    { role: 'user', text: wrongWith(attempt) },
  ]);
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

/** What the operator wants to be minded, oldest first, as the Conductor is told it; empty where there is nothing. */
function hintsOf(hints: readonly string[] = []): string {
  if (hints.length === 0) return '';
  return ['The person who asked wants you to mind this:', ...hints.map((hint) => `- ${hint}`)].join('\n');
}
