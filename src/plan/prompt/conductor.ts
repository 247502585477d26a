import {
  type Access,
  CONDUCTOR_ID,
  type Describe,
  type PlanExample,
  GENERIC_SUBTASK,
  type ExampleSet,
  type Message,
  type Plan,
} from '../plan';
import { renderPlan, renderPlanAsJson } from '../render';
import { EXAMPLE_SETS, exampleReply } from './example-plans';
import { type AskedTexts, fenceAround, showAnswerSchema, showConversation, textsOfAsked } from './fences';
import { type GivenText, showGiven } from './worker';

interface DescribedWorker {
  readonly id: string;
  readonly notes: string | null;
  /** Tools that it may call, in the operator's words; absent if none. */
  readonly canCall?: string | undefined;
  /** USD per million tokens, or per call; null or absent if unknown. */
  readonly price?:
    { readonly input: number; readonly output: number } | { readonly perCall: number } | null | undefined;
}

export interface ConductorPrompt extends AskedTexts {
  readonly workers: readonly DescribedWorker[];
  readonly describe: Describe;
  readonly maxSteps: number;
  /** Whether the Conductor is also a worker, with the last ordinal. */
  readonly mayCallItself?: boolean;
  readonly format: 'lists' | 'json';
  /** @default 'any' */
  readonly access?: Access | undefined;
  /** false: every worker is sent `GENERIC_SUBTASK`. @default true */
  readonly subtasks?: boolean | undefined;
  /** @default 'out-of-domain' */
  readonly examples?: ExampleSet | readonly PlanExample[] | undefined;
  /** `full`: with rules and examples; `compact`: without them, for a trained policy. @default 'full' */
  readonly style?: 'full' | 'compact';
  /** Texts given along with a question that is a step of another plan. */
  readonly background?: readonly GivenText[];
  /** Plan that was carried out and its answer, to be accepted or improved. */
  readonly review?: { readonly plan: Plan; readonly answer: string };
  /** Oldest first, as are the repairs. */
  readonly hints?: readonly string[];
  /** Replies that were no valid plan, with the message of the `PlanError`, or plans that a person rejected, and why. */
  readonly repairs: readonly {
    readonly reply: string;
    readonly problem: string;
    readonly isRejected?: boolean;
  }[];
}

/**
 * Returns the messages that ask the Conductor for a plan. For the provider's prompt cache, the part that is the same
 * for every question to one pool comes first, a review repeats the first conversation, and a repair only appends. A
 * review has the form of the paper's figure 14: the earlier plan as the Conductor's own turn, then its outcome.
 */
export function conductorMessages(prompt: ConductorPrompt): Message[] {
  if (prompt.style === 'compact') return compactMessages(prompt);
  const { question, review, hints, format } = prompt;
  const given = showBackground(prompt);
  const fence = fenceAround(textsOfAsked(prompt));
  const asked = [
    ...showConversation(prompt, fence),
    `Write a plan for this question:\n\n${question}`,
    ...showAnswerSchema(prompt, ANSWER_RULE, fence),
    ...(given.length === 0 ? [] : ['Every worker is also shown this:', ...given]),
    review === undefined ? describeHints(hints) : '',
  ];
  const outcomeOf = (answer: string): string[] => [
    'Your team carried this plan out.',
    showGiven({ subtask: null, output: answer }, fenceAround([answer])),
    describeHints(hints),
    reviewRule(format),
  ];
  return [
    { role: 'system', text: conductorRules(prompt) },
    { role: 'user', text: joinParts(asked, '\n\n') },
    ...laterTurns(prompt, (answer) => joinParts(outcomeOf(answer), '\n\n')),
  ];
}

const ANSWER_RULE =
  'The answer must be JSON that fits this schema. The worker of the last step is shown it, and alone held to it:';

function reviewRule(format: ConductorPrompt['format']): string {
  const acceptance = format === 'json' ? 'an empty list of steps' : 'three empty lists';
  return (
    `If this answer is right and complete, accept it: reply with ${acceptance}. If it can be made better, reply with a ` +
    'new plan that corrects it; every worker of that plan is shown the answer so far, and the output of its last step ' +
    'replaces it.'
  );
}

/** Returns the prompt for a trained policy: the question and a `Model id N` line per worker (the paper's figure 13). */
function compactMessages(prompt: ConductorPrompt): Message[] {
  const { question, review, hints } = prompt;
  const team = describeTeam(prompt, 'Model id ', 'yourself');
  const fence = fenceAround(textsOfAsked(prompt));
  const asked = [
    ...showConversation(prompt, fence),
    question,
    ...showAnswerSchema(prompt, ANSWER_RULE, fence),
    ...showBackground(prompt),
    ['Workers:', ...team].join('\n'),
  ];
  return [
    { role: 'user', text: joinParts([...asked, review === undefined ? describeHints(hints) : ''], '\n') },
    ...laterTurns(prompt, (answer) => joinParts([`Answer: ${answer}`, describeHints(hints)], '\n')),
  ];
}

/** Leaves the answer so far out of a review, which shows it after its plan. */
function showBackground({ background = [], review }: ConductorPrompt): string[] {
  const given = review === undefined ? background : background.filter(({ subtask }) => subtask !== null);
  const fence = fenceAround(given.flatMap(({ subtask, output }) => [subtask ?? '', output]));
  return given.map((text) => showGiven(text, fence));
}

function describeHints(hints: readonly string[] = []): string {
  if (hints.length === 0) return '';
  return ['The person who asked wants you to mind this:', ...hints.map((hint) => `- ${hint}`)].join('\n');
}

/** Returns the reviewed plan as the Conductor would write it, its outcome, then failed replies, oldest first. */
function laterTurns(
  { review, repairs, workers, format, access = 'any' }: ConductorPrompt,
  outcomeOf: (answer: string) => string,
): Message[] {
  const failed = repairs.flatMap(({ reply, problem, isRejected = false }): Message[] => [
    { role: 'assistant', text: clip(reply) },
    {
      role: 'user',
      text: isRejected
        ? `The person who asked does not want this plan.\n\n${problem}\n\nWrite another one.`
        : `This reply holds no valid plan.\n\n${problem}\n\nCorrect this and write the whole reply again.`,
    },
  ]);
  if (review === undefined) return failed;
  const { plan, answer } = review;
  const known = [...workers.map(({ id }) => id), CONDUCTOR_ID];
  const ids = [...new Set([...known, ...plan.steps.map(({ worker }) => worker)])];
  return [
    {
      role: 'assistant',
      text: format === 'json' ? renderPlanAsJson(plan, ids, access) : renderPlan(plan, ids),
    },
    { role: 'user', text: outcomeOf(answer) },
    ...failed,
  ];
}

/** Most characters shown of a failed reply: a model that did not stop must not fill its own context. */
const SHOWN = 4000;

function clip(reply: string): string {
  // Vendors refuse a message without text.
  if (reply.trim() === '') return '(no text)';
  if (reply.length <= SHOWN) return reply;
  return `${reply.slice(0, SHOWN / 2)}\n…\n${reply.slice(-SHOWN / 2)}`;
}

function joinParts(parts: readonly string[], separator: string): string {
  return parts.filter((part) => part !== '').join(separator);
}

function conductorRules(prompt: ConductorPrompt): string {
  const { workers, maxSteps, format, subtasks, access = 'any', examples: chosen = 'out-of-domain' } = prompt;
  const examples = (typeof chosen === 'string' ? EXAMPLE_SETS[chosen] : chosen)
    .filter(({ plan }) => plan.steps.length <= maxSteps)
    .map(
      (example) =>
        `Example question: ${example.question}\n${exampleReply(example, workers.length, { format, access, subtasks })}`,
    );
  const team = ['The team, by number:', ...describeTeam(prompt, '', ITSELF)].join('\n');
  return [ROLE, planRules(prompt), ADVICE, FORMATS[format](access), ...examples, team].join('\n\n');
}

const ROLE =
  'You direct a team of language models. You do not answer the question yourself: you write a plan, the team ' +
  'carries it out, and the output of the last step is handed to the user as the answer.';

function planRules({ maxSteps, access, subtasks = true }: ConductorPrompt): string {
  const sight =
    access === 'binary'
      ? 'what it sees: nothing of the earlier steps, or the subtasks and outputs of all of them'
      : 'what it sees: the subtasks and outputs of no earlier step, of all of them, or of those you name';
  return [
    `A plan has ${maxSteps === 1 ? 'exactly one step' : `1 to ${maxSteps} steps`}. Each step has`,
    '- a worker: the number of one member of the team;',
    subtasks
      ? '- a subtask: what this worker shall do, said so clearly that it needs no other explanation;'
      : `- a subtask: "${GENERIC_SUBTASK}", which every worker is sent whatever you write;`,
    `- ${sight}.`,
    'Every worker is also given the whole question. Steps that do not see each other run at the same time.',
  ].join('\n');
}

const ADVICE =
  'Use a single step where one worker can answer well. Use more where parts want different strengths, where ' +
  'independent attempts can be compared, or where a result should be checked. The last step must produce the ' +
  'complete answer in the form that the question asks for.';

const FORMATS = {
  lists: (access: Access) =>
    [
      'Reply with a sentence or two of reasoning, then three lists of equal length with one entry for each step:',
      'model_id = the numbers of the workers',
      'subtasks = the subtasks, each in double quotes',
      access === 'binary'
        ? 'access_list = for each step [] (sees nothing) or ["all"] (sees every earlier step)'
        : 'access_list = for each step [] (sees nothing), ["all"] (sees every earlier step), or numbers of earlier steps, ' +
          'counted from 0, such as [0, 2]',
    ].join('\n'),
  json: (access: Access) =>
    [
      'Reply with one JSON object and nothing else. Its fields:',
      '"reasoning": a sentence or two;',
      '"steps": a list of objects with "worker" (a number), "subtask" (a text) and "sees" ' +
        (access === 'binary'
          ? '("none" or "all").'
          : '(the numbers of earlier steps, counted from 0; [] for none).'),
    ].join('\n'),
} as const;

/**
 * Lists the workers by number, with an id or notes but never both: a Conductor must not go by names instead of notes.
 * If told prices as well, it plans better with weak workers (Self-Resource Allocation).
 */
function describeTeam(
  { workers, describe, mayCallItself = false }: ConductorPrompt,
  prefix: string,
  itself: string,
): string[] {
  const remarks = workers.map(({ id, notes, price, canCall }) => {
    const told = notes?.replace(/\s+/g, ' ').trim() ?? null;
    const priced = [told, priceRemark(price)].filter(Boolean).join('; ');
    const remark = { ordinals: null, names: id, notes: told, 'notes+price': priced }[describe];
    return canCall === undefined ? remark : [remark, `can call: ${canCall}`].filter(Boolean).join('; ');
  });
  return [...remarks, ...(mayCallItself ? [itself] : [])].map(
    (remark, ordinal) => `${prefix}${ordinal}${remark === null ? '' : `: ${remark}`}`,
  );
}

function priceRemark(price: DescribedWorker['price']): string {
  if (!price) return 'price unknown';
  if ('perCall' in price) return `$${price.perCall} a call`;
  const { input, output } = price;
  return input === 0 && output === 0 ? 'free' : `$${input} in, $${output} out per million tokens`;
}

const ITSELF =
  'yourself, called again: the subtask becomes a question of its own, with a plan of its own. Use it only for a part ' +
  'that needs a team.';
