import type { ResolvedRun } from '../protocol/run';
import { CONDUCTOR_ID } from '../protocol/names';
import type { PlanContext } from './plan';

/** What a plan of a run is judged by; the Conductor, where it may be given steps, is the last ordinal. */
export function planContextOf(
  { workers, limits }: Pick<ResolvedRun, 'workers' | 'limits'>,
  round: number,
  mayCallItself: boolean,
): PlanContext {
  const ids = workers.map(({ id }) => id);
  return { workers: mayCallItself ? [...ids, CONDUCTOR_ID] : ids, maxSteps: limits.steps, round };
}
