import { condition } from '@temporalio/workflow';
import { Account } from '../../budget/account';
import { NOTHING } from '../../budget/amount';
import type { EvaluateInput } from '../contract';

/** What was set aside for one question. */
export interface Share {
  /** 10⁻⁹ USD; null: no limit. */
  readonly nanoUsd: number | null;
  /** @param spent null: the question left no result, and all of the share counts as spent */
  settle(spent: number | null): void;
}

/**
 * The money of an evaluation: what a question may cost is set aside before it begins, and what it did not use is given
 * back.
 *
 * Each is given an equal part of what is left, but as much at least as the dearest one so far and one more run at its
 * limit: where less is left, it waits for others to give back, and at last takes all that there is.
 */
export class Purse {
  private readonly account: Account;
  private dearest = 0;
  private changes = 0;
  private keys = 0;

  constructor(
    private readonly input: Pick<EvaluateInput, 'nanoUsd' | 'runNanoUsd' | 'window'>,
    private readonly spentBefore: number,
  ) {
    const { nanoUsd } = input;
    const left = nanoUsd === null ? null : Math.max(0, nanoUsd - spentBefore);
    this.account = new Account({ calls: Infinity, tokens: null, nanoUsd: left });
  }

  /** In this run of the workflow and before it, in 10⁻⁹ USD; what is unknown counted at its maximum. */
  get spent(): number {
    return this.spentBefore + this.account.spentAtMost.nanoUsd;
  }

  /** Sets money aside; null where none is left. @param isAlone all that is left, once all others are over */
  async take(isAlone: boolean): Promise<Share | null> {
    for (;;) {
      const { shared } = this.account;
      const left = this.left;
      if (left === 0 && shared.length === 0) return null;
      const wanted = Math.max(1, 2 * this.dearest + (this.input.runNanoUsd ?? 0));
      if (shared.length === 0 || (!isAlone && left >= wanted)) {
        const places = isAlone ? 1 : Math.min(this.input.window - shared.length, Math.floor(left / wanted));
        return this.share(Math.max(1, places));
      }
      const before = this.changes;
      await condition(() => this.changes !== before);
    }
  }

  private get left(): number {
    const { nanoUsd } = this.input;
    return nanoUsd === null
      ? Infinity
      : Math.max(0, nanoUsd - this.spentBefore - this.account.committed.nanoUsd);
  }

  private share(parts: number): Share | null {
    this.keys += 1;
    const key = String(this.keys);
    const share = this.account.share(key, parts);
    if ('limit' in share) return null;
    const settle = (spent: number | null): void => {
      this.account.settleChild(key, spent === null ? null : { ...NOTHING, nanoUsd: spent });
      this.dearest = Math.max(this.dearest, spent ?? 0);
      this.changes += 1;
    };
    return { nanoUsd: share.nanoUsd, settle };
  }
}
