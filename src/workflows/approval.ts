import type { PlanContext, Plan } from '../plan/plan';
import type { Limits } from './limits';

/** What a person said to a plan. */
export type Verdict =
  | { readonly kind: 'approved' }
  | { readonly kind: 'edited'; readonly plan: Plan }
  | { readonly kind: 'rejected'; readonly reason: string };

/** Where a plan waits for a person, one at a time. */
export class Approval {
  /** What an edited plan is judged by; null while no plan waits. */
  private waiting: PlanContext | null = null;
  private verdict: Verdict | null = null;

  /** null while no plan waits for a person, or one has answered already. */
  get context(): PlanContext | null {
    return this.verdict === null ? this.waiting : null;
  }

  decide(verdict: Verdict): void {
    this.verdict = verdict;
  }

  /** Waits for a verdict; null when nobody gave one in time. */
  async ask(context: PlanContext, limits: Limits): Promise<Verdict | null> {
    this.waiting = context;
    this.verdict = null;
    await limits.waitForPerson(() => this.verdict !== null);
    this.waiting = null;
    return this.verdict;
  }
}
