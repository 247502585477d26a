import type { Step } from '../../src';

/** Makes a step in one line. */
export function step(worker: string, subtask: string, sees: readonly number[] = []): Step {
  return { worker, subtask, sees };
}
