import type { Plan, Step } from '../../plan/plan';
import { MAX_STEPS } from '../../protocol/messages';
import type { Form } from './method';

/**
 * In 95 % of pools of seven drawn from the price table, the most expensive model being the Conductor, a question costs
 * at most 171 attempts of a worker.
 */
export const MOST_ATTEMPTS = 200;

/** A plan that chooses among attempts shows each as a step, and has one more. */
const MOST_COMPARED = MAX_STEPS - 1;

/** Makes attempts that know nothing of each other. Each has a number: a model that takes a seed would repeat itself. */
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

/** Groups of nearly equal size that one plan each can choose among; their winners are compared in turn. */
export function toCompare<Item>(answers: readonly Item[]): readonly (readonly Item[])[] {
  const size = Math.ceil(answers.length / Math.ceil(answers.length / MOST_COMPARED));
  return Array.from({ length: Math.ceil(answers.length / size) }, (_, group) =>
    answers.slice(group * size, (group + 1) * size),
  );
}

/** How many plans it takes to choose one of so many attempts. */
export function choicesAmong(count: number): number {
  if (count <= 1) return 0;
  const groups = Math.ceil(count / MOST_COMPARED);
  return groups + choicesAmong(groups);
}

/** Attempts that were made already, and a step that chooses one of them. */
export function choosing(worker: string, form: Form, count: number): Plan {
  const { steps } = attempts(worker, form, 1, count);
  return { steps: [...steps, { worker, subtask: CHOOSE, sees: [...steps.keys()] }] };
}

/** The place of the answer that was given most often, of equals the earliest; null where none settled on anything. */
export function mostFrequent(answers: readonly (string | number | null)[]): number | null {
  const counts = new Map<string | number, number>();
  for (const answer of answers) if (answer !== null) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const place = answers.findIndex((answer) => answer !== null && counts.get(answer) === most);
  return place === -1 ? null : place;
}
