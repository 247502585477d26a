import type { Plan, Step } from '../../plan/plan';
import { ANSWER, type MethodEntry } from './method';

/** One worker answers alone. */
export const worker: MethodEntry = {
  description: 'one worker alone, e.g. worker:gpt',
  argument: 'worker',
  make: (id) => ({
    kind: 'plan',
    write: () => alone(id),
  }),
};

/** The plan of a worker that answers alone. */
export function alone(id: string): Plan {
  return { steps: [{ worker: id, subtask: ANSWER, sees: [] }] };
}

const TURNS = 5;
const REFLECT =
  'Look for mistakes in the last answer to the question, correct them, and answer the question completely.';

/** One worker answers, and corrects itself four times (the paper's self-reflection × 5). */
export const reflection: MethodEntry = {
  description: 'one worker answers and corrects itself, five calls in all',
  argument: 'first worker',
  make: (id) => ({
    kind: 'plan',
    write: () => {
      const turns = Array.from({ length: TURNS }, (_, turn): Step => {
        return turn === 0
          ? { worker: id, subtask: ANSWER, sees: [] }
          : { worker: id, subtask: REFLECT, sees: [turn - 1] };
      });
      return { steps: turns };
    },
  }),
};
