import { ApplicationFailure } from '@temporalio/common';
import type { Allowance } from '../protocol/activity-contract';
import type { Call } from '../protocol/solve';
import type { SpendingLimits } from '../protocol/messages';
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
  private spent: Amount = NOTHING;
  private readonly reservations = new Map<string, Reservation>();
  private readonly shares = new Map<string, Amount>();
  /** Highest usage of calls that exceeded their worst case, by model. */
  private readonly overruns = new Map<string, Pick<Amount, 'tokens' | 'nanoUsd'>>();

  constructor(limits: SpendingLimits) {
    this.bound = boundOf(limits);
  }

  /** Limits in force: those that were set, or what is committed if that is more. */
  get limits(): SpendingLimits {
    return limitsOf(combine(this.bound, this.committed, Math.max));
  }

  /** Everything spent or reserved; `Infinity` if a child has a share without a limit. */
  get committed(): Amount {
    const held = [...this.reservations.values()].map((reservation) => reservation.held);
    return sumOf([this.spent, ...held, ...this.shares.values()]);
  }

  /** Known spending plus the worst case of unknown spending, without reservations. */
  get spentAtMost(): Amount {
    return this.spent;
  }

  get sharing(): number {
    return this.shares.size;
  }

  /**
   * Reserves what a model call may need, as much as fits: up to five requests, two of them billed. If the price or the
   * number of tokens is unknown (null, 0 tokens), something must be left of that limit.
   */
  reserve(key: string, expected: WorstCase): Allowance | LimitRefusal {
    if (this.reservations.has(key)) throw misuse(`${key} is reserved already`);
    const worst = this.withOverrun(expected);
    const least = { calls: 1, tokens: Math.max(1, worst.tokens), nanoUsd: worst.nanoUsd ?? 1 };
    const refusal = this.findRefusal(least);
    if (refusal !== null) return refusal;

    const twice = timesWorst(worst, MAX_BILLABLE);
    const billable = this.findRefusal(twice) === null ? MAX_BILLABLE : 1;
    const requests = Math.min(MAX_REQUESTS, this.left.calls);
    this.reservations.set(key, { worst, held: { ...timesWorst(worst, billable), calls: requests } });
    return { requests, billable };
  }

  /**
   * Books the requests of a call and releases the rest of its reservation.
   * @param calls all requests, including one that may have been billed unseen; its unknown fields are null
   */
  settle(key: string, calls: readonly Call[]): void {
    const { worst } = take(this.reservations, key);
    const amounts = calls.map((call) => atMost(call, worst));
    this.spent = sumOf([this.spent, ...amounts]);
    for (const amount of amounts) this.noteOverrun(amount, worst);
  }

  /**
   * Reserves a share of what is left for a child workflow: 1/`parts` of it, but at least one call and one token.
   * @returns the child's limits
   */
  share(key: string, parts: number): SpendingLimits | LimitRefusal {
    if (this.shares.has(key)) throw misuse(`${key} has a share already`);
    if (!(parts >= 1)) throw misuse(`${key} asks for one of ${parts} parts`);
    const least = { calls: 1, tokens: 1, nanoUsd: 0 };
    const refusal = this.findRefusal(least);
    if (refusal !== null) return refusal;

    const share = combine(this.left, least, (left, needed) => Math.max(needed, Math.floor(left / parts)));
    this.shares.set(key, share);
    return limitsOf(share);
  }

  /**
   * Books what a child spent and releases the rest of its share.
   * @param spentAtMost null: the child left no result, so its whole share counts as spent. Unlimited amounts of a share
   *   then count as 0, since nothing is known.
   */
  settleChild(key: string, spentAtMost: Amount | null): void {
    const share = take(this.shares, key);
    const known = (held: number): number => (Number.isFinite(held) ? held : 0);
    this.spent = sumOf([this.spent, spentAtMost ?? combine(share, NOTHING, known)]);
  }

  setLimits(limits: SpendingLimits): SpendingLimits {
    this.bound = boundOf(limits);
    return this.limits;
  }

  private noteOverrun({ tokens, nanoUsd }: Amount, { model, ...worst }: WorstCase): void {
    if (model === undefined || (tokens <= worst.tokens && nanoUsd <= (worst.nanoUsd ?? Infinity))) return;
    const before = this.overruns.get(model) ?? NOTHING;
    const most = { tokens: Math.max(before.tokens, tokens), nanoUsd: Math.max(before.nanoUsd, nanoUsd) };
    this.overruns.set(model, most);
  }

  private withOverrun({ model, tokens, nanoUsd }: WorstCase): WorstCase {
    const seen = this.overruns.get(model ?? '') ?? NOTHING;
    return {
      ...(model !== undefined && { model }),
      tokens: Math.max(tokens, seen.tokens),
      nanoUsd: nanoUsd === null ? null : Math.max(nanoUsd, seen.nanoUsd),
    };
  }

  private get left(): Amount {
    return combine(this.bound, this.committed, leftOf);
  }

  private findRefusal(needed: Amount): LimitRefusal | null {
    return findRefusal(needed, this.left, combine(this.bound, this.spent, leftOf));
  }
}

interface Reservation {
  readonly worst: WorstCase;
  readonly held: Amount;
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

function take<T>(held: Map<string, T>, key: string): T {
  const found = held.get(key);
  if (found === undefined) throw misuse(`nothing is set aside for ${key}, or it was given back already`);
  held.delete(key);
  return found;
}

/** Returns a non-retryable failure: any other error would fail the workflow task, which is retried without end. */
function misuse(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `the books of this run are wrong: ${problem}. This is a bug.`,
    'Account.Misuse',
  );
}
