import type { SpendingLimits } from '../protocol/cards';
import { Account } from './account';
import { NOTHING } from './amount';

/** Share reserved for one part. */
export interface BudgetShare {
  /** 10⁻⁹ USD; null: no limit. */
  readonly nanoUsd: number | null;
  /** Books what the part spent; null: it left no result, so its whole share counts as spent. */
  settle(spentNanoUsd: number | null): void;
}

/**
 * Cost budget for parts that run in parallel, in 10⁻⁹ USD: each part reserves a share before it starts, and the unused
 * rest is released.
 *
 * Invariants, besides those of `Account`:
 * 1. Parts that run together each get an equal share of what is left, so that all of them fit.
 * 2. The amount held back is in no share.
 * 3. Once a part could not be paid in full, none starts until more is allowed.
 */
export class SharedBudget {
  private readonly account: Account;
  private kept = 0;
  private tooLittle: number | null = null;
  /** Highest spending of one part so far. */
  highestSpent = 0;

  /**
   * @param allowed total budget; null: no limit
   * @param spentBefore spending of parts that ended earlier
   */
  constructor(
    private allowed: number | null = null,
    spentBefore = 0,
  ) {
    this.account = new Account(limitsOf(allowed), { ...NOTHING, nanoUsd: spentBefore });
  }

  get spent(): number {
    return this.account.spentAtMost.nanoUsd;
  }

  get underWay(): number {
    return this.account.underWay;
  }

  /** Callers that wait for money try again when it grows. */
  get changes(): number {
    return this.account.changes;
  }

  /** Sets the total budget and the part of it that is held back. A lower one takes nothing from running parts. */
  allow(nanoUsd: number | null, kept = 0): void {
    this.allowed = nanoUsd;
    this.kept = kept;
    this.account.setLimits(limitsOf(nanoUsd === null ? null : nanoUsd - kept));
  }

  get isShort(): boolean {
    return this.allowed !== null && this.tooLittle !== null && this.allowed <= this.tooLittle;
  }

  get isUsedUp(): boolean {
    return this.isShort || this.left <= 0;
  }

  /**
   * Reserves a share for a part, if `together` parts may run at once. Returns null if nothing is left, or if the caller
   * must wait for others.
   * @param least smallest useful share; if less is left, parts must wait until none runs, then one gets the rest
   */
  share(together: number, least = 1): BudgetShare | null {
    const { underWay, left } = this;
    if (this.isUsedUp || (underWay > 0 && left < least)) return null;
    const fitting = left === Infinity ? together : Math.floor(left / least);
    const share = this.account.share(Math.max(1, Math.min(together - underWay, fitting)));
    if ('limit' in share) return null;
    const settle = (spent: number | null): void => {
      share.settle(spent === null ? null : { ...NOTHING, nanoUsd: spent });
      this.highestSpent = Math.max(this.highestSpent, spent ?? 0);
    };
    return { nanoUsd: share.limits.nanoUsd, settle };
  }

  /** Records that a part could not be paid in full, so that another one could not be either. */
  runShort(): void {
    this.tooLittle = this.allowed;
  }

  /** Clears a shortage: the budget that was too small for one kind of part may suffice for a smaller kind. */
  forgetShortage(): void {
    this.tooLittle = null;
  }

  private get left(): number {
    const { allowed, kept } = this;
    return allowed === null ? Infinity : allowed - kept - this.account.committed.nanoUsd;
  }
}

/** Returns limits on cost only: calls and tokens are limited within the parts. */
function limitsOf(nanoUsd: number | null): SpendingLimits {
  return { calls: Infinity, tokens: null, nanoUsd };
}
