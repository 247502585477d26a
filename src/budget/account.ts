import { ApplicationFailure } from '@temporalio/common';
import type { Allowance } from '../protocol/activity-contract';
import type { Call } from '../protocol/solve';
import type { SpendingLimits } from '../protocol/cards';
import {
  type Amount,
  boundOf,
  combine,
  findRefusal,
  type LimitRefusal,
  limitsOf,
  NOTHING,
  sumOf,
} from './amount';
import type { WorstCase } from './worst-case';

/** Most requests of one model call, including free and lost ones. */
const MAX_REQUESTS = 5;
/** Most of them that may be billed: the answered one, and one that was in flight when its process was lost. */
const MAX_BILLABLE = 2;

/** Amount set aside for one call of a model. */
export interface CallReservation {
  readonly allowance: Allowance;
  /**
   * Books the requests of the call and releases the rest.
   * @param calls all requests, including one that may have been billed unseen; its unknown fields are null
   */
  settle(calls: readonly Call[]): void;
}

/** Part of what is left, set aside for a child workflow. */
export interface Share {
  readonly limits: SpendingLimits;
  /**
   * Books what the child spent and releases the rest.
   * @param spentAtMost null: the child left no result, so its whole share counts as spent. Unlimited amounts of a share
   *   then count as 0, since nothing is known.
   */
  settle(spentAtMost: Amount | null): void;
}

/**
 * Budget of one run: each call reserves its worst case before it starts, and the unused part is released afterwards.
 *
 * Invariants:
 * 1. No call starts that might not fit: spending and reservations together never exceed the limits.
 * 2. Each reservation is released exactly once, less what was used.
 * 3. Unknown usage is counted at its maximum for good.
 * 4. Lowered limits keep existing reservations, but nothing more starts until it fits.
 *
 * Invariant 1 depends on correct worst cases. A call that uses more than it reserved is counted in full, which may
 * exceed a limit by the difference; then nothing more that costs anything starts. Later calls of its model reserve as
 * much as it used: some servers do not count reasoning against the output limit that they are given.
 */
export class Account {
  private bound: Amount;
  /** Amounts of the reservations and shares that are not settled yet. */
  private readonly held = new Set<Amount>();
  /** Counts settlements and new limits: what did not fit may fit once it grows. */
  changes = 0;
  /** Highest usage of calls that exceeded their worst case, by model. */
  private readonly overruns = new Map<string, Amount>();

  /** @param spent what was spent earlier */
  constructor(
    limits: SpendingLimits,
    private spent = NOTHING,
  ) {
    this.bound = boundOf(limits);
  }

  /** Limits in force: those that were set, or what is committed if that is more. */
  get limits(): SpendingLimits {
    return limitsOf(combine(this.bound, this.committed, Math.max));
  }

  /** Everything spent or reserved; `Infinity` if a child has a share without a limit. */
  get committed(): Amount {
    return sumOf([this.spent, ...this.held]);
  }

  /** Known spending plus the worst case of unknown spending, without reservations. */
  get spentAtMost(): Amount {
    return this.spent;
  }

  /** Number of reservations and shares that are not settled yet. */
  get underWay(): number {
    return this.held.size;
  }

  /**
   * Reserves what a model call may need, as much as fits: up to five requests, two of them billed. If the price or the
   * number of tokens is unknown (null, 0 tokens), something must be left of that limit.
   */
  reserve(expected: WorstCase): CallReservation | LimitRefusal {
    const worst = this.withOverrun(expected);
    const least = { calls: 1, tokens: Math.max(1, worst.tokens), nanoUsd: worst.nanoUsd ?? 1 };
    const refusal = this.findRefusal(least);
    if (refusal !== null) return refusal;

    const twice = timesWorst(worst, MAX_BILLABLE);
    const billable = this.findRefusal(twice) === null ? MAX_BILLABLE : 1;
    const requests = Math.min(MAX_REQUESTS, this.left.calls);
    const release = this.hold({ ...timesWorst(worst, billable), calls: requests });
    const settle = (calls: readonly Call[]): void => {
      const amounts = calls.map((call) => atMost(call, worst));
      release(sumOf(amounts));
      for (const amount of amounts) this.noteOverrun(amount, worst);
    };
    return { allowance: { requests, billable }, settle };
  }

  /** Whether all of these calls, each made once, fit beside what is spent and reserved. */
  fits(expected: readonly WorstCase[]): boolean {
    const amounts = expected.map((worst) => timesWorst(this.withOverrun(worst), 1));
    return this.findRefusal(sumOf(amounts)) === null;
  }

  /** Reserves a share of what is left for a child workflow: 1/`parts` of it, but at least one call and one token. */
  share(parts: number): Share | LimitRefusal {
    const least = { calls: 1, tokens: 1, nanoUsd: 0 };
    const refusal = this.findRefusal(least);
    if (refusal !== null) return refusal;

    const share = combine(this.left, least, (left, needed) => Math.max(needed, Math.floor(left / parts)));
    const release = this.hold(share);
    const known = (held: number): number => (Number.isFinite(held) ? held : 0);
    const settle = (spentAtMost: Amount | null): void => {
      release(spentAtMost ?? combine(share, NOTHING, known));
    };
    return { limits: limitsOf(share), settle };
  }

  setLimits(limits: SpendingLimits): void {
    this.bound = boundOf(limits);
    this.changes += 1;
  }

  /** Holds an amount until the returned function is told how much of it was spent. */
  hold(amount: Amount): (spent: Amount) => void {
    this.held.add(amount);
    return (spent) => {
      if (!this.held.delete(amount)) throw settledTwice();
      this.spent = sumOf([this.spent, spent]);
      this.changes += 1;
    };
  }

  private noteOverrun(used: Amount, { model, tokens, nanoUsd }: WorstCase): void {
    if (model === undefined || (used.tokens <= tokens && used.nanoUsd <= (nanoUsd ?? Infinity))) return;
    this.overruns.set(model, combine(this.overruns.get(model) ?? NOTHING, used, Math.max));
  }

  private withOverrun(worst: WorstCase): WorstCase {
    const seen = this.overruns.get(worst.model ?? '') ?? NOTHING;
    const nanoUsd = worst.nanoUsd === null ? null : Math.max(worst.nanoUsd, seen.nanoUsd);
    return { ...worst, tokens: Math.max(worst.tokens, seen.tokens), nanoUsd };
  }

  private get left(): Amount {
    return combine(this.bound, this.committed, leftOf);
  }

  private findRefusal(needed: Amount): LimitRefusal | null {
    return findRefusal(needed, this.left, combine(this.bound, this.spent, leftOf));
  }
}

function timesWorst({ tokens, nanoUsd }: WorstCase, billable: number): Amount {
  return { calls: billable, tokens: billable * tokens, nanoUsd: billable * (nanoUsd ?? 0) };
}

/** Returns what one request counts for, with the worst case if unknown. One without usage and at no cost was free. */
function atMost({ usage, nanoUsd }: Call, worst: WorstCase): Amount {
  const isFree = usage === null && nanoUsd === 0;
  const tokens = usage === null ? worst.tokens : usage.inputTokens + usage.outputTokens;
  return { calls: 1, tokens: isFree ? 0 : tokens, nanoUsd: nanoUsd ?? worst.nanoUsd ?? 0 };
}

/** Returns what is left of a bound; an unlimited one stays so, since `Infinity - Infinity` is NaN. */
function leftOf(bound: number, committed: number): number {
  return bound === Infinity ? Infinity : Math.max(0, bound - committed);
}

/** Returns a non-retryable failure: any other error would fail the workflow task, which is retried without end. */
function settledTwice(): ApplicationFailure {
  const problem = 'the books of this run are wrong: a reservation was given back already. This is a bug.';
  return ApplicationFailure.nonRetryable(problem, 'Account.Misuse');
}
