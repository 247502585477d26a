import type { Plan } from './plan';

/**
 * Writes a plan as the JSON of `planOutputSchema`, without its reasoning: what a Conductor that is held to the schema
 * would have replied.
 *
 * @param workers ids in the order of the prompt
 */
export function renderPlanAsJson({ steps }: Plan, workers: readonly string[], reasoning = ''): string {
  const written = steps.map(({ worker, subtask, sees }) => ({
    worker: workers.indexOf(worker),
    subtask,
    sees: sees.length === 0 ? 'none' : 'all',
  }));
  return JSON.stringify({ reasoning, steps: written });
}
