import { GENERIC_SUBTASK, type Plan, type Step } from '../../plan/plan';
import { shuffled } from '../../statistics/chance';
import type { Form, Method, Team } from './method';

/** Subtask of a worker that answers the whole question. */
const ANSWER = 'Answer the question completely.';

export function alone(id: string, form: Form): Plan {
  return { steps: [{ worker: id, subtask: form === 'bare' ? '' : ANSWER, sees: [] }] };
}

const TURNS = 5;
const REFLECT =
  'Look for mistakes in your answers to the question so far, correct them, and answer the question completely.';

/** One worker answers and corrects itself four times, seeing its earlier attempts (paper: self-reflection × 5). */
export function reflection(id: string, form: Form): Plan {
  const corrections = Array.from({ length: TURNS - 1 }, (_, last): Step => {
    return { worker: id, subtask: REFLECT, sees: [...Array(last + 1).keys()] };
  });
  return { steps: [...alone(id, form).steps, ...corrections] };
}

const AGGREGATE =
  'Each member has answered the question. Weigh their answers, which may be wrong, and give the one right answer.';

/**
 * Returns a mixture of agents: every worker answers, in each further layer with all answers of the layer before, and
 * one worker combines the last answers.
 * @param aggregator id of that worker; '' for a random one
 */
export function mixture(team: Team, aggregator: string, layers: number): Plan {
  const { workers } = team;
  const answersOf = (layer: number): number[] => workers.map((_, place) => layer * workers.length + place);
  const answers = Array.from({ length: layers }, (_, layer) =>
    workers.map((worker): Step => {
      return { worker, ...(layer === 0 ? { subtask: ANSWER, sees: [] } : aggregating(answersOf(layer - 1))) };
    }),
  );
  const worker = aggregator === '' ? anyOf(team) : aggregator;
  return { steps: [...answers.flat(), { worker, ...aggregating(answersOf(layers - 1)) }] };
}

function aggregating(sees: readonly number[]): Omit<Step, 'worker'> {
  return { subtask: AGGREGATE, sees };
}

/** Returns a plan in which every worker answers independently. */
export function everyone({ workers }: Team, formOf: (worker: string) => Form): Plan {
  return { steps: workers.flatMap((id) => alone(id, formOf(id)).steps) };
}

function anyOf({ workers, random }: Team): string {
  return workers[Math.floor(random() * workers.length)] ?? '';
}

const MOST_STEPS = 5;

/** Returns a random plan: 1 to 5 steps of any workers, each of which sees all earlier steps or none. */
export function randomPlan(team: Team): Plan {
  const count = 1 + Math.floor(team.random() * MOST_STEPS);
  const steps = Array.from({ length: count }, (_, index): Step => {
    const worker = anyOf(team);
    return { worker, subtask: ANSWER, sees: team.random() < 0.5 ? [] : [...Array(index).keys()] };
  });
  return { steps };
}

/** Ablation of the paper's table 9: no subtasks. */
export const generic = changing((step) => ({ ...step, subtask: GENERIC_SUBTASK }));

export const silent = changing((step) => ({ ...step, sees: [] }));

/** Keeps the structure of a plan and gives every step to one worker. */
export function oneModel(worker: string): Method {
  return changing((step) => ({ ...step, worker }));
}

/**
 * Permutes the workers of a plan at random for each question. A Conductor that sees only ordinals gets the same
 * prompt for every order of the workers, so this is the plan that it would write for the permuted order.
 */
export const permuted: Method = {
  kind: 'rewrite',
  rewrite: ({ steps }, { workers, random }) => {
    const order = shuffled(workers, random);
    const others = new Map(workers.map((worker, place) => [worker, order[place] ?? worker]));
    return { steps: steps.map((step) => ({ ...step, worker: others.get(step.worker) ?? step.worker })) };
  },
};

function changing(change: (step: Step) => Step): Method {
  return { kind: 'rewrite', rewrite: ({ steps }) => ({ steps: steps.map(change) }) };
}
