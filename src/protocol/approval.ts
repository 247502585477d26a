import type { SolveInput } from './solve';

/** Whether a person sees the plan of a solve at this depth before anything of it is run. */
export function asksApproval({ approval }: Pick<SolveInput, 'approval'>, depth: number): boolean {
  return approval === 'all' || (approval === 'plan' && depth === 0);
}
