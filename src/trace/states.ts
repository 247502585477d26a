import type { RoundTrace, StepTrace } from '../protocol/solve';
import { counted } from './describe';
import { isReview } from './run-tree';

/** Where a step is on its way. A failed step may still be tried again, by its worker or by another. */
export type StepState = 'waiting' | 'running' | 'done' | 'failed';

/** The mark that stands before a step in a text. */
export const MARKS: Readonly<Record<StepState, string>> = {
  waiting: '·',
  running: '▸',
  done: '✓',
  failed: '✗',
};

export function stateOf({ startedAt, error, output }: StepTrace): StepState {
  if (startedAt === null) return output === null ? 'waiting' : 'done';
  if (error !== null) return 'failed';
  return output === null ? 'running' : 'done';
}

/** Whether an earlier run had given the output already. */
export function isKept({ startedAt, output }: Pick<StepTrace, 'startedAt' | 'output'>): boolean {
  return startedAt === null && output !== null;
}

/** `850 ms`, `3.2 s`, `1 min 4 s`: between two times in ISO 8601; to `now` where the second is missing. */
export function describeDuration(startedAt: string, endedAt: string | null, now = startedAt): string {
  return describeMs(Math.max(0, Date.parse(endedAt ?? now) - Date.parse(startedAt)));
}

/** `850 ms`, `3.2 s`, `1 min 4 s`. */
export function describeMs(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Steps are counted from 0 in data and from 1 for people: `sees 1, 2`; empty where a step sees nothing. */
export function describeSees(sees: readonly number[]): string {
  return sees.length === 0 ? '' : `sees ${sees.map((step) => step + 1).join(', ')}`;
}

/** The worker of a step, and for whom it stands in. */
export function describeWorker({ worker, fallbackFor }: Pick<StepTrace, 'worker' | 'fallbackFor'>): string {
  return fallbackFor === null ? worker : `${worker} for ${fallbackFor}`;
}

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
