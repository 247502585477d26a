import { CONDUCTOR_ID } from '../../protocol/names';
import type { Plan } from '../plan';
import { renderPlan } from '../render';
import { renderPlanAsJson } from '../render-json';
import type { RulesInput } from './rules';

/** A plan as the Conductor would have written it, whoever of its workers may have left the pool since. */
export function earlierPlan(plan: Plan, { workers, format }: Pick<RulesInput, 'workers' | 'format'>): string {
  const known = [...workers.map(({ id }) => id), CONDUCTOR_ID];
  const strangers = plan.steps.map(({ worker }) => worker).filter((worker) => !known.includes(worker));
  const ids = [...known, ...strangers];
  return format === 'json' ? renderPlanAsJson(plan, ids) : renderPlan(plan, ids);
}
