import { GENERIC_SUBTASK, type Plan, type Step } from '../../plan/plan';
import { shuffled } from '../chance';
import type { Form, Method, Team } from './method';

/** The subtask of a worker that is given the whole question. */
const ANSWER = 'Answer the question completely.';

export function alone(id: string, form: Form): Plan {
  return { steps: [{ worker: id, subtask: form === 'bare' ? '' : ANSWER, sees: [] }] };
}

const TURNS = 5;
const REFLECT =
  'Look for mistakes in your answers to the question so far, correct them, and answer the question completely.';

/** One worker answers, and corrects itself four times with all its attempts before it (the paper's self-reflection × 5). */
export function reflection(id: string, form: Form): Plan {
  const corrections = Array.from({ length: TURNS - 1 }, (_, last): Step => {
    return { worker: id, subtask: REFLECT, sees: [...Array(last + 1).keys()] };
  });
  return { steps: [...alone(id, form).steps, ...corrections] };
}

const AGGREGATE =
  'Each member has answered the question. Weigh their answers, which may be wrong, and give the one right answer.';

/**
 * Mixture of agents: every worker answers, in each further layer with all answers of the layer before, and one makes one
 * answer of the last ones.
 * @param aggregator '' for a random one
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

/** Every worker answers on its own. */
export function everyone({ workers }: Team, formOf: (worker: string) => Form): Plan {
  return { steps: workers.flatMap((id) => alone(id, formOf(id)).steps) };
}

function anyOf({ workers, random }: Team): string {
  return workers[Math.floor(random() * workers.length)] ?? '';
}

const MOST_STEPS = 5;

/** A plan by chance: 1 to 5 steps of any workers, which see all earlier ones or none. */
export function randomPlan(team: Team): Plan {
  const count = 1 + Math.floor(team.random() * MOST_STEPS);
  const steps = Array.from({ length: count }, (_, index): Step => {
    const worker = anyOf(team);
    return { worker, subtask: ANSWER, sees: team.random() < 0.5 ? [] : [...Array(index).keys()] };
  });
  return { steps };
}

/** The paper's table 9, no subtasks. */
export const generic = changing((step) => ({ ...step, subtask: GENERIC_SUBTASK }));

export const silent = changing((step) => ({ ...step, sees: [] }));

/** A plan with its structure kept and its choice of workers removed. */
export function oneModel(worker: string): Method {
  return changing((step) => ({ ...step, worker }));
}

/**
 * Each id stands for another worker, anew for each question. To a Conductor that is told ordinals alone, every order of
 * the workers is the same prompt: this is what it would write for this order.
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
