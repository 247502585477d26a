import type { ExampleSet } from '../plan';
import { EXAMPLE_SETS, exampleReply } from './examples';

/** Facts that decide the Conductor's instructions, equal for every question to one pool. */
export interface RulesInput {
  readonly workers: readonly { readonly id: string; readonly notes: string | null }[];
  /** Only ordinals (as the paper trains, so that names carry no prejudice), ids, or notes. */
  readonly describe: 'ordinals' | 'names' | 'notes';
  readonly maxSteps: number;
  /** The Conductor is a worker itself, the last ordinal. */
  readonly mayCallItself?: boolean;
  readonly format: 'lists' | 'json';
  /** @default 'everyday' */
  readonly examples?: ExampleSet;
}

export function conductorRules(input: RulesInput): string {
  const { workers, maxSteps, format, examples: set = 'everyday' } = input;
  const examples = EXAMPLE_SETS[set]
    .filter(({ plan }) => plan.steps.length <= maxSteps)
    .map(
      (example) => `Example question: ${example.question}\n${exampleReply(example, workers.length, format)}`,
    );
  return [ROLE, planRules(input), ADVICE, FORMATS[format], ...examples, team(input)].join('\n\n');
}

const ROLE =
  'You direct a team of language models. You do not answer the question yourself: you write a plan, the team ' +
  'carries it out, and the output of the last step is handed to the user as the answer.';

function planRules({ maxSteps, format }: RulesInput): string {
  const sight =
    format === 'json'
      ? 'what it sees: nothing of the earlier steps, or the subtasks and outputs of all of them'
      : 'what it sees: the subtasks and outputs of no earlier step, of all of them, or of those you name';
  return [
    `A plan has ${maxSteps === 1 ? 'exactly one step' : `1 to ${maxSteps} steps`}. Each step has`,
    '- a worker: the number of one member of the team;',
    '- a subtask: what this worker shall do, said so clearly that it needs no other explanation;',
    `- ${sight}.`,
    'Every worker is also given the whole question. Steps that do not see each other run at the same time.',
  ].join('\n');
}

const ADVICE =
  'Use a single step where one worker can answer well. Use more where parts want different strengths, where ' +
  'independent attempts can be compared, or where a result should be checked. The last step must produce the ' +
  'complete answer in the form that the question asks for.';

const FORMATS = {
  lists: [
    'Reply with a sentence or two of reasoning, then three lists of equal length with one entry for each step:',
    'model_id = the numbers of the workers',
    'subtasks = the subtasks, each in double quotes',
    'access_list = for each step [] (sees nothing), ["all"] (sees every earlier step), or numbers of earlier steps, ' +
      'counted from 0, such as [0, 2]',
  ].join('\n'),
  json: [
    'Reply with one JSON object and nothing else. Its fields:',
    '"reasoning": a sentence or two;',
    '"steps": a list of objects with "worker" (a number), "subtask" (a text) and "sees" ("none" or "all").',
  ].join('\n'),
} as const;

function team({ workers, describe, mayCallItself = false }: RulesInput): string {
  const lines = describeTeam(workers, describe).map((remark, ordinal) =>
    remark === null ? `${ordinal}` : `${ordinal}: ${remark}`,
  );
  if (mayCallItself) lines.push(`${workers.length}: ${ITSELF}`);
  return ['The team, by number:', ...lines].join('\n');
}

/**
 * What each worker shows beside its ordinal: its id or its notes, never both. Who must read what workers are good at must
 * not be able to go by their names instead.
 */
export function describeTeam(
  workers: RulesInput['workers'],
  describe: RulesInput['describe'],
): (string | null)[] {
  return workers.map(
    ({ id, notes }) => ({ ordinals: null, names: id, notes: notes && oneLine(notes) })[describe],
  );
}

const ITSELF =
  'yourself, called again: the subtask becomes a question of its own, with a plan of its own. Use it only for a part ' +
  'that needs a team.';

function oneLine(notes: string): string {
  return notes.replace(/\s+/g, ' ').trim();
}
