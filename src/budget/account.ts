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

/** The most requests of one model call, free and lost ones included. */
const MAX_REQUESTS = 5;
/** Those of them that may be billed: the answered one, and one that was under way when its process was lost. */
const MAX_BILLABLE = 2;

/**
 * The books of one run: what may be spent is set aside before a call begins, and what was not used is given back.
 *
 * Laws:
 * 1. Nothing begins that might not fit: what is spent and what is set aside never exceed the limits together.
 * 2. What is set aside is given back exactly once, less what was used.
 * 3. What is unknown is counted at its maximum, and stays so.
 * 4. Lowered limits break no promise: what is set aside stays so, and nothing more begins.
 *
 * Law 1 is as good as the worst cases. A call that uses more than was set aside for it is counted in full, which may
 * exceed a limit by as much; nothing more that costs anything begins then. As much is set aside for each later call of
 * its model: some servers do not count reasoning against the limit that they are given for the output.
 */
export class Account {
  private bound: Amount;
  private spent: Amount = NOTHING;
  private readonly reservations = new Map<string, Reservation>();
  private readonly shares = new Map<string, Amount>();
  /** The most that a call came to which went beyond its worst case, by model. */
  private readonly overruns = new Map<string, Pick<Amount, 'tokens' | 'nanoUsd'>>();

  constructor(limits: SpendingLimits) {
    this.bound = boundOf(limits);
  }

  /** Limits that hold now: those that were set, or what is committed if that is more. */
  get limits(): SpendingLimits {
    return limitsOf(combine(this.bound, this.committed, Math.max));
  }

  /** All that is spent or set aside; `Infinity` where a child has a share without a limit. */
  get committed(): Amount {
    const held = [...this.reservations.values()].map((reservation) => reservation.held);
    return sumOf([this.spent, ...held, ...this.shares.values()]);
  }

  /** Known spending and the worst case of what is unknown, without what is only set aside. */
  get spentAtMost(): Amount {
    return this.spent;
  }

  get sharing(): number {
    return this.shares.size;
  }

  /**
   * Sets aside what a call of a model may need, as generously as fits: up to five requests, two of them billed. Where a
   * price or a number of tokens is unknown (null, 0 tokens), something must be left of that limit.
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
   * Books the requests that a call made and gives the rest back.
   * @param calls all of them; one that may have been billed unseen belongs here too, with what is unknown as null
   */
  settle(key: string, calls: readonly Call[]): void {
    const { worst } = take(this.reservations, key);
    const amounts = calls.map((call) => atMost(call, worst));
    this.spent = sumOf([this.spent, ...amounts]);
    for (const amount of amounts) this.noteOverrun(amount, worst);
  }

  /**
   * Sets aside a part of what is left for a child workflow: a `parts`-th, but a call and a token at least.
   * @returns the limits to give to the child
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
   * Books what a child spent and gives the rest of its share back.
   * @param spentAtMost null: the child vanished without a trace, so its whole share counts as spent. Of a share without
   *   a limit nothing is known, and nothing is counted.
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

/** Amount that one request counts for, with its maximum if unknown. One without usage and at no cost was free. */
function atMost({ usage, nanoUsd }: Call, worst: WorstCase): Amount {
  const isFree = usage === null && nanoUsd === 0;
  const tokens = usage === null ? worst.tokens : usage.inputTokens + usage.outputTokens;
  return { calls: 1, tokens: isFree ? 0 : tokens, nanoUsd: nanoUsd ?? worst.nanoUsd ?? 0 };
}

/** Infinity less infinity: nothing bounds it, whatever was promised. */
function leftOf(bound: number, committed: number): number {
  return bound === Infinity ? Infinity : Math.max(0, bound - committed);
}

function take<T>(held: Map<string, T>, key: string): T {
  const found = held.get(key);
  if (found === undefined) throw misuse(`nothing is set aside for ${key}, or it was given back already`);
  held.delete(key);
  return found;
}

/** Any other error would make the workflow task fail and be retried without end. */
function misuse(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `the books of this run are wrong: ${problem}. This is a bug.`,
    'Account.Misuse',
  );
}
