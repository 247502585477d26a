import type { Plan, Step } from '../../plan/plan';
import { MAX_STEPS } from '../../protocol/messages';
import type { Form } from './method';

/**
 * In 95 % of pools of seven models drawn from the price table, with the most expensive one as the Conductor, its cost
 * of a question pays for at most 171 attempts of a worker.
 */
export const MOST_ATTEMPTS = 200;

/** Maximum attempts that one plan can choose among: each is a step, and the choice is one more. */
const MOST_COMPARED = MAX_STEPS - 1;

/** Plans independent attempts. They are numbered, since a model that takes a seed would otherwise repeat itself. */
export function attempts(worker: string, form: Form, first: number, count: number): Plan {
  const steps = Array.from({ length: count }, (_, place): Step => {
    return { worker, subtask: SUBTASKS[form](first + place), sees: [] };
  });
  return { steps };
}

const SUBTASKS: Readonly<Record<Form, (attempt: number) => string>> = {
  bare: (attempt) => (attempt === 1 ? '' : `Attempt ${attempt}.`),
  team: (attempt) =>
    `Answer the question completely. This is attempt ${attempt}, made without knowledge of others.`,
};

const CHOOSE =
  'The attempts were made independently of each other. Choose the one that is most likely right, and repeat its answer.';

/** Splits answers into groups of nearly equal size, one plan each; the winners are compared in turn. */
export function toCompare<Item>(answers: readonly Item[]): readonly (readonly Item[])[] {
  const size = Math.ceil(answers.length / Math.ceil(answers.length / MOST_COMPARED));
  return Array.from({ length: Math.ceil(answers.length / size) }, (_, group) =>
    answers.slice(group * size, (group + 1) * size),
  );
}

/** Returns how many plans it takes to choose one of `count` attempts. */
export function choicesAmong(count: number): number {
  if (count <= 1) return 0;
  const groups = Math.ceil(count / MOST_COMPARED);
  return groups + choicesAmong(groups);
}

/** Returns a plan of attempts that were made already, and a step that chooses one of them. */
export function choosing(worker: string, form: Form, count: number): Plan {
  const { steps } = attempts(worker, form, 1, count);
  return { steps: [...steps, { worker, subtask: CHOOSE, sees: [...steps.keys()] }] };
}

/** Returns the index of the most frequent answer, the earliest on a tie; null if all answers are null. */
export function mostFrequent(answers: readonly (string | number | null)[]): number | null {
  const counts = new Map<string | number, number>();
  for (const answer of answers) if (answer !== null) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const place = answers.findIndex((answer) => answer !== null && counts.get(answer) === most);
  return place === -1 ? null : place;
}
