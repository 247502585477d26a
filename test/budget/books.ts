import { Account, type CallReservation, type Share } from '../../src/budget/account';
import { type Amount, boundOf, combine, NOTHING, sumOf } from '../../src/budget/amount';
import type { SpendingLimits } from '../../src/protocol/cards';
import type { WorstCase } from '../../src/budget/worst-case';
import type { Allowance } from '../../src/protocol/activity-contract';
import type { Call } from '../../src';
import { sampleCall } from '../trace/sample-trace';

/** One request of a call, and its provider's report. */
export interface Request {
  readonly tokens: number;
  readonly nanoUsd: number;
  readonly told: 'free' | 'all' | 'tokens' | 'cost' | 'nothing';
}

export interface UnderWay {
  readonly reservation: CallReservation;
  readonly worst: WorstCase;
  readonly held: Amount;
}

export interface Child {
  readonly share: Share;
  readonly books: Books;
}

/**
 * An account together with an independent record of what really happens, so that the two can be compared after each
 * event.
 */
export class Books {
  readonly account: Account;
  /** Limits as they were last reported. */
  told: Amount;
  /** Limits as they were requested, though more may have been promised already. */
  asked: Amount;
  /** Amount that the account should report as spent. */
  booked = NOTHING;
  /** Amount really spent, as far as price and maximum tokens are known. */
  spent = NOTHING;
  readonly calls = new Set<UnderWay>();
  readonly children = new Set<Child>();

  constructor(limits: SpendingLimits) {
    this.account = new Account(limits);
    this.told = boundOf(limits);
    this.asked = this.told;
  }

  get committed(): Amount {
    const held = [...this.calls].map((call) => call.held);
    const shares = [...this.children].map(({ share }) => boundOf(share.limits));
    return sumOf([this.booked, ...held, ...shares]);
  }

  /** Amount spent by this run and all runs below it. */
  get spentInAll(): Amount {
    return sumOf([this.spent, ...[...this.children].map(({ books }) => books.spentInAll)]);
  }

  /** Returns the most generous allowance that fits, found by trying each, or null if none fits. */
  mostGenerous(worst: WorstCase, committed = this.committed): Allowance | null {
    const isUsedUp = (measure: keyof Amount): boolean =>
      this.asked[measure] !== Infinity && committed[measure] >= this.asked[measure];
    if (worst.nanoUsd === null && isUsedUp('nanoUsd')) return null;
    if (worst.tokens === 0 && isUsedUp('tokens')) return null;
    for (const billable of [2, 1]) {
      for (const requests of [5, 4, 3, 2, 1]) {
        if (requests < billable) continue;
        if (this.hasRoom(committed, heldFor(worst, { requests, billable }))) return { requests, billable };
      }
    }
    return null;
  }

  /** Whether `more` can be reserved within the requested limits. */
  hasRoom(committed: Amount, more: Amount): boolean {
    const isFine = (measure: keyof Amount): boolean =>
      more[measure] === 0 || committed[measure] + more[measure] <= this.asked[measure];
    return isFine('calls') && isFine('tokens') && isFine('nanoUsd');
  }

  begin(worst: WorstCase, reservation: CallReservation): void {
    this.calls.add({ reservation, worst, held: heldFor(worst, reservation.allowance) });
  }

  beginChild(share: Share): void {
    this.children.add({ share, books: new Books(share.limits) });
  }

  /** Ends a call with these requests, and returns its report; the caller decides whether the account gets it. */
  end(call: UnderWay, requests: readonly Request[]): Call[] {
    const { worst } = call;
    this.calls.delete(call);
    const certain = ({ told, tokens, nanoUsd }: Request): Amount => ({
      calls: 1,
      tokens: told === 'free' || worst.tokens === 0 ? 0 : tokens,
      nanoUsd: told === 'free' || worst.nanoUsd === null ? 0 : nanoUsd,
    });
    this.spent = sumOf([this.spent, ...requests.map(certain)]);
    this.booked = sumOf([this.booked, ...requests.map((request) => bookedFor(request, worst))]);
    return requests.map(callOf);
  }

  setLimits(limits: SpendingLimits): void {
    this.asked = boundOf(limits);
    this.told = combine(this.asked, this.committed, Math.max);
  }

  endChild(child: Child, vanished: boolean): void {
    this.children.delete(child);
    const { books } = child;
    const share = boundOf(child.share.limits);
    // If a child with an unlimited share vanished, its spending is unknown and counts as 0.
    const ifKnown = (spent: number, promised: number): number =>
      vanished && promised === Infinity ? 0 : spent;
    this.spent = sumOf([this.spent, combine(books.spentInAll, share, ifKnown)]);
    this.booked = sumOf([this.booked, vanished ? combine(share, share, ifKnown) : books.booked]);
  }
}

function heldFor({ tokens, nanoUsd }: WorstCase, { requests, billable }: Allowance): Amount {
  return { calls: requests, tokens: billable * tokens, nanoUsd: billable * (nanoUsd ?? 0) };
}

function bookedFor({ told, tokens, nanoUsd }: Request, worst: WorstCase): Amount {
  if (told === 'free') return { calls: 1, tokens: 0, nanoUsd: 0 };
  return {
    calls: 1,
    tokens: told === 'all' || told === 'tokens' ? tokens : worst.tokens,
    nanoUsd: told === 'all' || told === 'cost' ? nanoUsd : (worst.nanoUsd ?? 0),
  };
}

/** Returns a request as it is reported to its run. */
export function callOf({ told, tokens, nanoUsd }: Request): Call {
  const inputTokens = Math.floor(tokens / 3);
  const usage = {
    inputTokens,
    outputTokens: tokens - inputTokens,
    cachedInputTokens: 0,
    reasoningTokens: 0,
  };
  return sampleCall({
    usage: told === 'all' || told === 'tokens' ? usage : null,
    nanoUsd: told === 'free' ? 0 : told === 'all' || told === 'cost' ? nanoUsd : null,
  });
}
