import type { Step } from '../../plan/plan';
import { ANSWER, type MethodEntry } from './method';
import { anyOf } from './mixture';

const MOST_STEPS = 5;

/** A plan by chance: 1 to 5 steps of any workers, each of which sees all earlier ones or none. */
export const randomPlan: MethodEntry = {
  description: 'a plan by chance: 1 to 5 steps of any workers, which see all earlier ones or none',
  argument: 'none',
  make: () => ({
    kind: 'plan',
    write: (team) => {
      const count = 1 + Math.floor(team.random() * MOST_STEPS);
      const steps = Array.from({ length: count }, (_, index): Step => {
        const worker = anyOf(team);
        return { worker, subtask: ANSWER, sees: team.random() < 0.5 ? [] : [...Array(index).keys()] };
      });
      return { steps };
    },
  }),
};
