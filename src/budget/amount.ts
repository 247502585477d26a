import type { SpendingLimits } from '../protocol/messages';
import { counted, describeUsd } from '../trace/describe';

/** Amounts counted against the limits of a run. As a bound, `Infinity` stands for none. */
export interface Amount {
  /** Requests to models, free ones included. */
  readonly calls: number;
  /** Input and output. */
  readonly tokens: number;
  /** 10⁻⁹ USD. */
  readonly nanoUsd: number;
}

export const NOTHING: Amount = { calls: 0, tokens: 0, nanoUsd: 0 };

export function combine(one: Amount, other: Amount, by: (one: number, other: number) => number): Amount {
  return {
    calls: by(one.calls, other.calls),
    tokens: by(one.tokens, other.tokens),
    nanoUsd: by(one.nanoUsd, other.nanoUsd),
  };
}

export function sumOf(amounts: Iterable<Amount>): Amount {
  let sum = NOTHING;
  for (const amount of amounts) sum = combine(sum, amount, (one, other) => one + other);
  return sum;
}

export function boundOf({ calls, tokens, nanoUsd }: SpendingLimits): Amount {
  return { calls, tokens: tokens ?? Infinity, nanoUsd: nanoUsd ?? Infinity };
}

export function limitsOf({ calls, tokens, nanoUsd }: Amount): SpendingLimits {
  const finiteOrNull = (bound: number): number | null => (Number.isFinite(bound) ? bound : null);
  return { calls, tokens: finiteOrNull(tokens), nanoUsd: finiteOrNull(nanoUsd) };
}

/**
 * What a child may still use once the run's limits were changed. Where they do not hold all that was promised, what is
 * missing is taken off all shares in proportion; a share without a limit becomes an equal part of what no other share
 * was promised. Nothing changes for a child where the limits hold everything.
 *
 * The parent keeps holding the whole share until the child has ended, so a message that comes too late breaks nothing.
 *
 * @param given what the run itself has spent or set aside, and the shares of all its children
 */
export function scaleShare(
  share: SpendingLimits,
  limits: SpendingLimits,
  given: { readonly own: Amount; readonly shared: readonly Amount[] },
): SpendingLimits {
  const [held, bound] = [boundOf(share), boundOf(limits)];
  const scale = (measure: keyof Amount): number => {
    const left = Math.max(0, bound[measure] - given.own[measure]);
    const bounded = given.shared.map((each) => each[measure]).filter(Number.isFinite);
    const promised = bounded.reduce((sum, each) => sum + each, 0);
    if (held[measure] < Infinity)
      return promised <= left ? held[measure] : Math.floor(held[measure] * (left / promised));
    if (left === Infinity) return Infinity;
    return Math.floor(Math.max(0, left - promised) / (given.shared.length - bounded.length));
  };
  return limitsOf({ calls: scale('calls'), tokens: scale('tokens'), nanoUsd: scale('nanoUsd') });
}

/** Why something may not begin. */
export interface LimitRefusal {
  /** By the name that `stoppedBy` gives it. */
  readonly limit: 'calls' | 'tokens' | 'cost';
  /** At least, in the limit's own unit, which is nano-USD for `cost`. */
  readonly needed: number;
  readonly left: number;
  /** It may fit once others have given back what they set aside and did not use. */
  readonly mayFitLater: boolean;
}

/**
 * The limit that forbids something, or null. Where several do, one that waiting cannot help comes first: no call must
 * wait for one limit only to fail at another.
 *
 * @param left what is neither spent nor set aside
 * @param unspent what would be left if nothing were set aside
 */
export function findRefusal(needed: Amount, left: Amount, unspent: Amount): LimitRefusal | null {
  const refusals = (['calls', 'tokens', 'cost'] as const).flatMap((limit): LimitRefusal[] => {
    const { measure } = LIMITS[limit];
    if (needed[measure] <= left[measure]) return [];
    const mayFitLater = needed[measure] <= unspent[measure];
    return [{ limit, needed: needed[measure], left: left[measure], mayFitLater }];
  });
  return refusals.find(({ mayFitLater }) => !mayFitLater) ?? refusals[0] ?? null;
}

export function describeLimit({ limit, needed, left, mayFitLater }: LimitRefusal): string {
  const { name, amount, remedy } = LIMITS[limit];
  const later = mayFitLater ? ' until calls under way give back what they do not use' : '';
  // Rounds needs up and rests down, or a sentence might say that $0.0100 is too little for $0.0100.
  return (
    `the next call may come to ${amount(needed, Math.ceil)}, and ${name} leaves ${amount(left, Math.floor)}${later}; ` +
    remedy
  );
}

interface LimitWords {
  readonly measure: keyof Amount;
  readonly name: string;
  readonly amount: (value: number, round: (value: number) => number) => string;
  readonly remedy: string;
}

const LIMITS: Readonly<Record<LimitRefusal['limit'], LimitWords>> = {
  calls: {
    measure: 'calls',
    name: 'limits.calls',
    amount: (calls) => counted(calls, 'request'),
    remedy: 'raise limits.calls',
  },
  tokens: {
    measure: 'tokens',
    name: 'limits.tokens',
    amount: (tokens) => `${tokens.toLocaleString('en-US')} tokens`,
    remedy: 'raise limits.tokens, or lower maxOutputTokens of its worker',
  },
  cost: {
    measure: 'nanoUsd',
    name: 'limits.costUsd',
    amount: (nanoUsd, round) => {
      const digit = nanoUsd < 1e9 ? 1e5 : 1e7;
      return describeUsd((round(nanoUsd / digit) * digit) / 1e9);
    },
    remedy: 'raise limits.costUsd (--max-cost), or lower maxOutputTokens of its worker',
  },
};
