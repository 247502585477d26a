import type { Plan, Step } from '../../plan/plan';
import { shuffled } from '../chance';
import { ANSWER, type MethodEntry, type Team } from './method';

/** The Conductor's plan where every subtask is the question itself (the paper's table 9, no subtasks). */
export const generic = ablation("the Conductor's plan, every subtask replaced by the question", (step) => ({
  ...step,
  subtask: ANSWER,
}));

/** The Conductor's plan where no step sees another. */
export const silent = ablation("the Conductor's plan, no step sees another", (step) => ({
  ...step,
  sees: [],
}));

/** The Conductor's plan, carried out by one worker alone: what is left when the choice of workers is taken away. */
export const oneModel: MethodEntry = {
  description: "the Conductor's plan, every step done by one worker",
  argument: 'first worker',
  make: (worker) => rewriting((step) => ({ ...step, worker })),
};

/**
 * The Conductor's plan where each id stands for another worker, anew for each question. To a Conductor that is told
 * ordinals alone, every order of the workers is the same prompt: this is what it would write for this order.
 */
export const permuted: MethodEntry = {
  description: "the Conductor's plan, its workers exchanged for each other by chance",
  argument: 'none',
  make: () => ({
    kind: 'rewrite',
    rewrite: (plan, team) => {
      const others = exchange(team);
      return mapSteps(plan, (step) => ({ ...step, worker: others.get(step.worker) ?? step.worker }));
    },
  }),
};

function exchange({ workers, random }: Team): ReadonlyMap<string, string> {
  const order = shuffled(workers, random);
  return new Map(workers.map((worker, place) => [worker, order[place] ?? worker]));
}

function ablation(description: string, change: (step: Step) => Step): MethodEntry {
  return { description, argument: 'none', make: () => rewriting(change) };
}

function rewriting(change: (step: Step) => Step): ReturnType<MethodEntry['make']> {
  return { kind: 'rewrite', rewrite: (plan) => mapSteps(plan, change) };
}

function mapSteps({ steps }: Plan, change: (step: Step) => Step): Plan {
  return { steps: steps.map(change) };
}
