import type { SpendingLimits } from '../protocol/cards';
import { counted, describeUsd } from '../trace/describe';

/** Amounts counted against the limits of a run. As a bound, `Infinity` means unlimited. */
export interface Amount {
  readonly calls: number;
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

export interface LimitRefusal {
  readonly limit: 'calls' | 'tokens' | 'cost';
  /** Least amount needed, in the limit's own unit, which is nano-USD for `cost`. */
  readonly needed: number;
  readonly left: number;
  /** Whether it may fit once others have released unused reservations. */
  readonly mayFitLater: boolean;
}

/**
 * Returns the limit that is exceeded, or null. Of several, it prefers one that waiting cannot resolve: no call must
 * wait for one limit only to fail at another. `unspent` is what would be left without reservations.
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
  // Rounds the need up and the rest down, or a sentence might say that $0.0100 is too little for $0.0100.
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
