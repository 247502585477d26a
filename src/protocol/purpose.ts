import type { WritePlanRequest } from './activities';
import type { CallPurpose } from './call';
import { FAILURES } from './failures';

/** What a call of the Conductor is for. A plan that a person rejected is written anew, not repaired. */
export function purposeOf({ repairs, review }: Pick<WritePlanRequest, 'repairs' | 'review'>): CallPurpose {
  if (repairs.at(-1)?.problem.type === FAILURES.planInvalid) return 'repair';
  return review === undefined ? 'plan' : 'review';
}
