import type { SpendingLimits } from '../protocol/messages';
import { Account } from './account';
import { NOTHING } from './amount';

/** Share set aside for one part. */
export interface BudgetShare {
  /** 10⁻⁹ USD; null: no limit. */
  readonly nanoUsd: number | null;
  /** Books what the part spent; null: it left no result, and all of its share counts as spent. */
  settle(spentNanoUsd: number | null): void;
}

/**
 * A sum of money for parts that run in parallel, in 10⁻⁹ USD: what a part may spend is set aside before it begins, and
 * what it did not use is given back.
 *
 * Laws, beside those of `Account`:
 * 1. Parts that run together are each given an equal share of what is left, so that all of them fit.
 * 2. What is kept back is in no share.
 * 3. Once a part could not be paid to its end, none begins until more is allowed.
 */
export class SharedBudget {
  private readonly account: Account;
  private kept = 0;
  private tooLittle: number | null = null;
  private parts = 0;
  /** Parts that are over: whoever waits for money asks again as it grows. */
  over = 0;
  /** The most that a part spent. */
  highestSpent = 0;

  /**
   * @param allowed in all; null: no limit
   * @param spentBefore by parts that are over
   */
  constructor(
    private allowed: number | null = null,
    private readonly spentBefore = 0,
  ) {
    this.account = new Account(limitsOf(null));
    this.allow(allowed);
  }

  get spent(): number {
    return this.spentBefore + this.account.spentAtMost.nanoUsd;
  }

  get underWay(): number {
    return this.account.sharing;
  }

  /** Changes what is allowed in all, and how much of it is kept back. Less than before takes nothing from parts under way. */
  allow(nanoUsd: number | null, kept = 0): void {
    this.allowed = nanoUsd;
    this.kept = kept;
    const left = nanoUsd === null ? null : Math.max(0, nanoUsd - kept - this.spentBefore);
    this.account.setLimits(limitsOf(left));
  }

  get isShort(): boolean {
    return this.allowed !== null && this.tooLittle !== null && this.allowed <= this.tooLittle;
  }

  get isUsedUp(): boolean {
    return this.isShort || this.left <= 0;
  }

  /**
   * Sets a share aside for a part, of which `together` may be under way at once.
   * @param least where less than that is left, others are waited for, and at last all that there is is given
   * @returns null where nothing is left, or others are to be waited for
   */
  share(together: number, least = 1): BudgetShare | null {
    const { underWay, left } = this;
    if (this.isUsedUp || (underWay > 0 && left < least)) return null;
    const fitting = left === Infinity ? together : Math.floor(left / least);
    const key = String((this.parts += 1));
    const share = this.account.share(key, Math.max(1, Math.min(together - underWay, fitting)));
    if ('limit' in share) return null;
    const settle = (spent: number | null): void => {
      this.account.settleChild(key, spent === null ? null : { ...NOTHING, nanoUsd: spent });
      this.highestSpent = Math.max(this.highestSpent, spent ?? 0);
      this.over += 1;
    };
    return { nanoUsd: share.nanoUsd, settle };
  }

  /** A part could not be paid to its end, and another one could not be, either. */
  runShort(): void {
    this.tooLittle = this.allowed;
  }

  /** Forgets a shortage of one kind of part, since it may suffice for a smaller one. */
  forgetShortage(): void {
    this.tooLittle = null;
  }

  private get left(): number {
    const { allowed, kept, spentBefore } = this;
    return allowed === null ? Infinity : allowed - kept - spentBefore - this.account.committed.nanoUsd;
  }
}

/** Only money is counted: calls and tokens are limits of the parts. */
function limitsOf(nanoUsd: number | null): SpendingLimits {
  return { calls: Infinity, tokens: null, nanoUsd };
}
