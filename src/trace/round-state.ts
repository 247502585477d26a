import type { RoundTrace } from '../protocol/solve';
import { counted } from './counted';
import { isReview } from './kinship';

/** Rounds are counted from 0 in data and from 1 for people: `Round 2` and ` · review · depth 1 · accepted`. */
export function describeRound(round: RoundTrace): { readonly name: string; readonly facts: string } {
  const { depth, decision } = round;
  const facts = [isReview(round) ? 'review' : '', depth === 0 ? '' : `depth ${depth}`, decision ?? ''];
  return {
    name: `Round ${round.round + 1}`,
    facts: facts.flatMap((fact) => (fact === '' ? [] : ` · ${fact}`)).join(''),
  };
}

/** What the Conductor wrote: `3 steps`, or that it accepted the answer at hand, or nothing yet, or nothing at all. */
export function describePlan({ plan, decision }: Pick<RoundTrace, 'plan' | 'decision'>): string {
  if (plan === null) return decision === 'failed' ? 'no plan' : 'no plan yet';
  return plan.steps.length === 0 ? 'accepts the answer' : counted(plan.steps.length, 'step');
}
