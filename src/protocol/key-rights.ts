import type { RunLimits, SpendingLimits } from './cards';
import type { Rights } from './input';
import type { Sender } from './messages';
import { findLimitExcess, isOperator, mayPlan, mostOf, rightsIn } from './rights';

/** What the key behind a run may use, with what operators have set since. A run that no key started is free. */
export class KeyRights {
  /** The most that others than operators may set; null: anything. */
  private most: RunLimits | null;
  private readonly mayPlan: boolean;

  /** @param input unchecked: messages come before an activity has checked it */
  constructor(input: unknown) {
    const bound = rightsIn(input);
    this.most = mostOf(bound);
    this.mayPlan = mayPlan(bound);
  }

  /** Returns why a message may not change limits so, or null. */
  findExcess(change: Partial<RunLimits>, sender: unknown): string | null {
    return this.most === null || isOperator(sender) ? null : findLimitExcess(change, this.most);
  }

  /** Returns why a message may not have the Conductor asked for another plan, or null. */
  findPlanningProblem(sender: unknown): string | null {
    if (this.mayPlan || isOperator(sender)) return null;
    return 'this key may not use the Conductor, which would write another plan: approve or edit this one, or cancel';
  }

  /** Takes what an operator sets as the most that others may set from now on. */
  note(change: Partial<RunLimits>, sender: unknown): void {
    if (this.most !== null && isOperator(sender)) this.most = { ...this.most, ...change };
  }

  /** Returns the rights of a child, which may set no more than its share, and exists to have the Conductor plan. */
  ofChild(share: SpendingLimits & Pick<RunLimits, 'wallClockMs'>): Rights | undefined {
    return this.most === null ? undefined : { models: null, limits: { ...this.most, ...share } };
  }

  /** Sender of what is passed on to children: it was allowed here. Runs that no key started name none. */
  get passedOn(): readonly Sender[] {
    return this.most === null ? [] : [{ asOperator: true }];
  }
}
