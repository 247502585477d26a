import { counted, describeUsd } from '../trace/describe';
import type { Amount } from './amount';

/** A limit on spending, by the name that `stoppedBy` gives it. */
export type SpendingLimit = 'calls' | 'tokens' | 'cost';

/** Why something may not begin: in the limit's own unit, which is nano-USD for `cost`. */
export interface LimitRefusal {
  readonly limit: SpendingLimit;
  /** What it would need at the least. */
  readonly needed: number;
  readonly left: number;
  /** Enough is still set aside for others that it may fit once they have given back what they did not use. */
  readonly mayFitLater: boolean;
}

const MEASURES = [
  { limit: 'calls', of: ({ calls }: Amount) => calls },
  { limit: 'tokens', of: ({ tokens }: Amount) => tokens },
  { limit: 'cost', of: ({ nanoUsd }: Amount) => nanoUsd },
] as const;

/**
 * Finds the limit that forbids something, or null where it fits.
 *
 * Where several do, one that waiting cannot mend comes first: nobody shall wait for one limit only to fail at another.
 *
 * @param left what is neither spent nor set aside
 * @param unspent what would be left if nothing were set aside
 */
export function findRefusal(needed: Amount, left: Amount, unspent: Amount): LimitRefusal | null {
  const refusals = MEASURES.filter(({ of }) => of(needed) > of(left)).map(({ limit, of }): LimitRefusal => {
    return { limit, needed: of(needed), left: of(left), mayFitLater: of(needed) <= of(unspent) };
  });
  return refusals.find(({ mayFitLater }) => !mayFitLater) ?? refusals[0] ?? null;
}

/** Why no call may begin, in a sentence: what it may come to, what which limit leaves, and what to do. */
export function describeLimit({ limit, needed, left, mayFitLater }: LimitRefusal): string {
  const { name, amount, remedy } = WORDS[limit];
  const later = mayFitLater ? ' until calls under way give back what they do not use' : '';
  return (
    `the next call may come to ${amount(needed, Math.ceil)}, and ${name} leaves ${amount(left, Math.floor)}${later}; ` +
    remedy
  );
}

type Rounding = (value: number) => number;

interface Words {
  readonly name: string;
  readonly amount: (value: number, round: Rounding) => string;
  readonly remedy: string;
}

const WORDS: Readonly<Record<SpendingLimit, Words>> = {
  calls: {
    name: 'limits.calls',
    amount: (calls) => counted(calls, 'request'),
    remedy: 'raise limits.calls',
  },
  tokens: {
    name: 'limits.tokens',
    amount: (tokens) => `${tokens.toLocaleString('en-US')} tokens`,
    remedy: 'raise limits.tokens, or lower maxOutputTokens of its worker',
  },
  cost: {
    name: 'limits.costUsd',
    amount: dollars,
    remedy: 'raise limits.costUsd (--max-cost), or lower maxOutputTokens of its worker',
  },
};

/** What is needed is rounded up and what is left down: no sentence shall say that 0.0100 is too little for 0.0100. */
function dollars(nanoUsd: number, round: Rounding): string {
  const digit = nanoUsd < 1e9 ? 1e5 : 1e7;
  return describeUsd((round(nanoUsd / digit) * digit) / 1e9);
}
