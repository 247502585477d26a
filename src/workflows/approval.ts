import type { PlanContext, Plan } from '../plan/plan';
import type { Limits } from './limits';

/** What a person said to a plan. */
export type Verdict =
  | { readonly kind: 'approved' }
  | { readonly kind: 'edited'; readonly plan: Plan }
  | { readonly kind: 'rejected'; readonly reason: string };

/** Where a plan waits for a person, one at a time. */
export class Approval {
  /** What an edited plan is judged by, as the limits are when it comes; null while no plan waits. */
  private rules: (() => PlanContext) | null = null;
  private verdict: Verdict | null = null;

  /** null while no plan waits for a person, or one has answered already. */
  get context(): PlanContext | null {
    return this.verdict === null && this.rules !== null ? this.rules() : null;
  }

  decide(verdict: Verdict): void {
    this.verdict = verdict;
  }

  /** Waits for a verdict; null when nobody gave one in time. */
  async ask(rules: () => PlanContext, limits: Limits): Promise<Verdict | null> {
    this.rules = rules;
    this.verdict = null;
    await limits.waitForPerson(() => this.verdict !== null);
    this.rules = null;
    return this.verdict;
  }
}
