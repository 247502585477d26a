import { createRequire } from 'node:module';

const { renderPlan } = createRequire(import.meta.url)('../lib/index.js');

/** Worker ids; the simulated providers have a model of the same name for each. */
export const WORKERS = ['a', 'b', 'c', 'd', 'e'];

/** Plan behind every wall-clock figure: a and b in parallel, then c, which sees both. */
export const FOUR_CALLS = [
  { worker: 'a', subtask: 'First half.', sees: [] },
  { worker: 'b', subtask: 'Second half.', sees: [] },
  { worker: 'c', subtask: 'Both halves together.', sees: [0, 1] },
];

/** Five steps, each of which sees all earlier ones. */
export const CHAIN = WORKERS.map((worker, index) => ({
  worker,
  subtask: `Part ${index + 1}.`,
  sees: [...Array(index).keys()],
}));

/** Shortest plans: one step, by a worker or by the Conductor itself. */
export const ONE_STEP = [{ worker: 'a', subtask: 'All of it.', sees: [] }];
export const SELF_CALL = [{ worker: 'conductor', subtask: 'All of it.', sees: [] }];

/** A review without steps accepts the answer. */
export const ACCEPT = [];

/** Renders a plan as the Conductor writes it. */
export const planText = (steps) => renderPlan({ steps }, [...WORKERS, 'conductor']);
