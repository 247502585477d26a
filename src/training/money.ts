import { Account } from '../budget/account';
import { NOTHING } from '../budget/amount';
import type { SpendingLimits } from '../protocol/messages';

/**
 * The books of a night, in 10⁻⁹ USD: what a group may spend is set aside before it begins, and what it did not use is
 * given back.
 *
 * Laws, beside those of `Account`:
 * 1. Groups that are under way together are each given an equal part of what is left, so that all of them fit.
 * 2. What is kept for the gate is no part of that until the gate opens.
 * 3. Once a group could not be paid to its end, none begins until more is allowed.
 */
export class NightMoney {
  private readonly account = new Account(limitsOf(null));
  private allowed: number | null = null;
  private kept = 0;
  /** What was allowed when a group could not be paid to its end; null: none was. */
  private tooLittle: number | null = null;

  get spent(): number {
    return this.account.spentAtMost.nanoUsd;
  }

  /**
   * Sets what may be spent in all, and how much of it is kept for the gate. Less than before takes nothing from groups
   * under way.
   *
   * @param nanoUsd null: no limit
   */
  allow(nanoUsd: number | null, kept: number): void {
    this.allowed = nanoUsd;
    this.kept = kept;
    this.account.setLimits(limitsOf(nanoUsd === null ? null : Math.max(0, nanoUsd - kept)));
  }

  /** Whether a group could not be paid to its end, and no more was allowed since. */
  get isShort(): boolean {
    return this.allowed !== null && this.tooLittle !== null && this.allowed <= this.tooLittle;
  }

  /** Whether nothing is left to be set aside, or what is left is known to be too little. */
  isUsedUp(): boolean {
    if (this.allowed === null) return false;
    return this.isShort || this.account.committed.nanoUsd >= this.allowed - this.kept;
  }

  /**
   * Sets a part of what is left aside for a group, of which `side` may be under way together.
   *
   * @returns what it may spend, null: no limit; undefined where nothing is left for it
   */
  reserve(key: string, side: number): number | null | undefined {
    if (this.isUsedUp()) return undefined;
    const share = this.account.share(key, Math.max(1, side - this.account.shared.length));
    return 'limit' in share ? undefined : share.nanoUsd;
  }

  /** Books a group that is over. `null`: it left no result, and all that was set aside for it counts as spent. */
  settle(key: string, spentNanoUsd: number | null): void {
    this.account.settleChild(key, spentNanoUsd === null ? null : { ...NOTHING, nanoUsd: spentNanoUsd });
  }

  /** A group could not be paid to its end, and another one could not be, either. */
  runShort(): void {
    this.tooLittle = this.allowed;
  }

  /** What was too little for a cycle's groups may do for the smaller ones of the gate. */
  forgetShortage(): void {
    this.tooLittle = null;
  }
}

/** Only money is counted: calls and tokens are limits of groups. */
function limitsOf(nanoUsd: number | null): SpendingLimits {
  return { calls: Infinity, tokens: null, nanoUsd };
}

/** Half as much again: answers of the held-out questions may be longer than those seen. */
const GATE_SPARE = 1.5;

/**
 * What a night keeps for its gate, of all that it may spend: what its rollouts cost at the mean so far and a half
 * more, but half of the budget at most. A quarter of it while no cost is known.
 */
export function costOfGate(budget: number, rollouts: number, nanoUsdEach: number | null): number {
  if (nanoUsdEach === null) return Math.floor(budget / 4);
  return Math.min(Math.floor(budget / 2), Math.ceil(GATE_SPARE * rollouts * nanoUsdEach));
}
