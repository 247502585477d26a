import type { Amount } from './amount';

/** A limit on spending, by the name that `stoppedBy` gives it. */
export type SpendingLimit = 'calls' | 'tokens' | 'cost';

/** Why something may not begin: in the limit's own unit, which is nano-USD for `cost`. */
export interface Refusal {
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
export function findRefusal(needed: Amount, left: Amount, unspent: Amount): Refusal | null {
  const refusals = MEASURES.filter(({ of }) => of(needed) > of(left)).map(({ limit, of }): Refusal => {
    return { limit, needed: of(needed), left: of(left), mayFitLater: of(needed) <= of(unspent) };
  });
  return refusals.find(({ mayFitLater }) => !mayFitLater) ?? refusals[0] ?? null;
}
