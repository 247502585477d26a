import type { ResolvedRun } from './run';

/** How a run may recurse, and how deep. */
type Rules = Pick<ResolvedRun, 'recursion'> & { readonly limits: Pick<ResolvedRun['limits'], 'depth'> };

/** Whether the Conductor may be given steps of its own plan, in a solve at this depth. */
export function mayCallItself({ recursion, limits }: Rules, depth: number): boolean {
  return (recursion === 'worker' || recursion === 'both') && isDepthLeft(limits, depth);
}

/** Whether the Conductor may review the answer of its own plan, in a solve at this depth. */
export function mayReview({ recursion, limits }: Rules, depth: number): boolean {
  return (recursion === 'review' || recursion === 'both') && isDepthLeft(limits, depth);
}

function isDepthLeft({ depth: most }: Rules['limits'], depth: number): boolean {
  return most === null || depth < most;
}
