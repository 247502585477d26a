import { parsePlan } from '../../../src/plan/parse';
import type { Plan } from '../../../src/plan/plan';
import { PlanError } from '../../../src/plan/plan-error';
import type { World } from '../world/world';

/**
 * The plan in a reply; null where there is none.
 *
 * @param round 1: it may be empty, and so accept an answer
 */
export function planIn({ workers, maxSteps }: World, text: string, round = 0): Plan | null {
  try {
    return parsePlan(text, { workers: workers.map(({ id }) => id), maxSteps, round });
  } catch (error) {
    if (error instanceof PlanError) return null;
    throw error;
  }
}
