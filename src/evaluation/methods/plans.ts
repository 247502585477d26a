import type { Plan, Step } from '../../plan/plan';
import { shuffled } from '../chance';
import {
  type Method,
  type MethodEntry,
  NO_ARGUMENT,
  type Team,
  WORKER,
  WORKER_OR_ANY,
  WORKER_OR_FIRST,
} from './method';

/** The subtask of a worker that is given the whole question. */
const ANSWER = 'Answer the question completely.';

export function alone(id: string): Plan {
  return { steps: [{ worker: id, subtask: ANSWER, sees: [] }] };
}

export const worker: MethodEntry = {
  description: 'one worker alone, e.g. worker:gpt',
  argument: WORKER,
  make: (id) => writing(() => alone(id)),
};

const TURNS = 5;
const REFLECT =
  'Look for mistakes in the last answer to the question, correct them, and answer the question completely.';

/** One worker answers, and corrects itself four times (the paper's self-reflection × 5). */
export const reflection: MethodEntry = {
  description: 'one worker answers and corrects itself, five calls in all',
  argument: WORKER_OR_FIRST,
  make: (id) => {
    const corrections = Array.from({ length: TURNS - 1 }, (_, last): Step => {
      return { worker: id, subtask: REFLECT, sees: [last] };
    });
    return writing(() => ({ steps: [...alone(id).steps, ...corrections] }));
  },
};

const AGGREGATE =
  'Each member has answered the question. Weigh their answers, which may be wrong, and give the one right answer.';

export const mixture: MethodEntry = {
  description: 'mixture of agents: every worker answers, and one (mixture:gpt; else a random one) aggregates',
  argument: WORKER_OR_ANY,
  make: (aggregator) =>
    writing((team) => {
      const answers = team.workers.flatMap((id) => alone(id).steps);
      const last = aggregator === '' ? anyOf(team) : aggregator;
      return { steps: [...answers, { worker: last, subtask: AGGREGATE, sees: [...answers.keys()] }] };
    }),
};

function anyOf({ workers, random }: Team): string {
  return workers[Math.floor(random() * workers.length)] ?? '';
}

const MOST_STEPS = 5;

export const randomPlan: MethodEntry = {
  description: 'a plan by chance: 1 to 5 steps of any workers, which see all earlier ones or none',
  argument: NO_ARGUMENT,
  make: () =>
    writing((team) => {
      const count = 1 + Math.floor(team.random() * MOST_STEPS);
      const steps = Array.from({ length: count }, (_, index): Step => {
        const worker = anyOf(team);
        return { worker, subtask: ANSWER, sees: team.random() < 0.5 ? [] : [...Array(index).keys()] };
      });
      return { steps };
    }),
};

/** The paper's table 9, no subtasks. */
export const generic: MethodEntry = {
  description: "the Conductor's plan, every subtask replaced by the question",
  argument: NO_ARGUMENT,
  make: () => changing((step) => ({ ...step, subtask: ANSWER })),
};

export const silent: MethodEntry = {
  description: "the Conductor's plan, no step sees another",
  argument: NO_ARGUMENT,
  make: () => changing((step) => ({ ...step, sees: [] })),
};

/** A plan with its structure kept and its choice of workers removed. */
export const oneModel: MethodEntry = {
  description: "the Conductor's plan, every step done by one worker",
  argument: WORKER_OR_FIRST,
  make: (worker) => changing((step) => ({ ...step, worker })),
};

/**
 * Each id stands for another worker, anew for each question. To a Conductor that is told ordinals alone, every order of
 * the workers is the same prompt: this is what it would write for this order.
 */
export const permuted: MethodEntry = {
  description: "the Conductor's plan, its workers exchanged for each other by chance",
  argument: NO_ARGUMENT,
  make: () => ({
    kind: 'rewrite',
    rewrite: ({ steps }, { workers, random }) => {
      const order = shuffled(workers, random);
      const others = new Map(workers.map((worker, place) => [worker, order[place] ?? worker]));
      return { steps: steps.map((step) => ({ ...step, worker: others.get(step.worker) ?? step.worker })) };
    },
  }),
};

function writing(write: (team: Team) => Plan): Method {
  return { kind: 'plan', write };
}

function changing(change: (step: Step) => Step): Method {
  return { kind: 'rewrite', rewrite: ({ steps }) => ({ steps: steps.map(change) }) };
}
