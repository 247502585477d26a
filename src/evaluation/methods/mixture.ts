import type { Step } from '../../plan/plan';
import { ANSWER, type MethodEntry, type Team } from './method';

const AGGREGATE =
  'Each member has answered the question. Weigh their answers, which may be wrong, and give the one right answer.';

/** Mixture of agents: every worker answers, and one of them, drawn anew for each question, makes one answer of all. */
export const mixture: MethodEntry = {
  description: 'mixture of agents: every worker answers, and one (mixture:gpt; else a random one) aggregates',
  argument: 'any worker',
  make: (aggregator) => ({
    kind: 'plan',
    write: (team) => {
      const answers = team.workers.map((worker): Step => ({ worker, subtask: ANSWER, sees: [] }));
      const last = aggregator === '' ? anyOf(team) : aggregator;
      return { steps: [...answers, { worker: last, subtask: AGGREGATE, sees: [...answers.keys()] }] };
    },
  }),
};

/** A worker, each as likely as any other. */
export function anyOf({ workers, random }: Team): string {
  return workers[Math.floor(random() * workers.length)] ?? '';
}
