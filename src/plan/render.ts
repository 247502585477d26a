import type { Plan, Step } from './plan';
import { PlanError, quoteBriefly } from './plan-error';

/**
 * Writes a plan as the three lists that the Conductor itself writes; `parsePlan` reads back the same plan.
 *
 * @param workers ids in the order of the prompt, as in `PlanContext`
 * @throws PlanError where a step's worker is not among them
 */
export function renderPlan({ steps }: Plan, workers: readonly string[]): string {
  return [
    `model_id = [${steps.map(({ worker }) => ordinalOf(worker, workers)).join(', ')}]`,
    `subtasks = [${steps.map(({ subtask }) => quoted(subtask)).join(', ')}]`,
    `access_list = [${steps.map(accessOf).join(', ')}]`,
  ].join('\n');
}

function ordinalOf(worker: string, workers: readonly string[]): number {
  const ordinal = workers.indexOf(worker);
  if (ordinal !== -1) return ordinal;
  const problem = `${quoteBriefly(worker)} is not among the ${workers.length} workers of this pool, so it has no number.`;
  throw new PlanError('unknown_worker', 'model_id', problem);
}

/** JSON's spelling, but for the two escapes that the parser leaves alone because of LaTeX. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/\\./g, (escape) => SPELLED_OUT[escape] ?? escape);
}

const SPELLED_OUT: Readonly<Record<string, string>> = { '\\b': '\\u0008', '\\f': '\\u000c' };

function accessOf({ sees }: Step, index: number): string {
  return index > 0 && sees.length === index ? '["all"]' : JSON.stringify(sees);
}
