import { parsePlan } from '../../src/plan/parse';
import type { Plan, PlanContext } from '../../src';
import { PlanError } from '../../src/plan/plan-error';

/** The plan that was made, or the typed error that was thrown; any other error is passed on. */
export function outcomeOf(make: () => Plan): Plan | PlanError {
  try {
    return make();
  } catch (error) {
    if (error instanceof PlanError) return error;
    throw error;
  }
}

/** The message of the typed error that a text must give. */
export function problemOf(text: string, context: PlanContext): string {
  const outcome = outcomeOf(() => parsePlan(text, context));
  return outcome instanceof PlanError ? outcome.message : 'no error';
}
