/** What is counted against the limits of a run. As a bound, `Infinity` stands for none. */
export interface Amount {
  /** Requests to models, free ones included. */
  readonly calls: number;
  /** Input and output. */
  readonly tokens: number;
  /** 10⁻⁹ USD. */
  readonly nanoUsd: number;
}

/** What a run, or a child of it, may spend at most; null: no such limit. */
export interface SpendingLimits {
  readonly calls: number;
  readonly tokens: number | null;
  readonly nanoUsd: number | null;
}

/** Where a sum starts. */
export const NOTHING: Amount = { calls: 0, tokens: 0, nanoUsd: 0 };

/** Combines two amounts, each measure by itself. */
export function combine(one: Amount, other: Amount, by: (one: number, other: number) => number): Amount {
  return {
    calls: by(one.calls, other.calls),
    tokens: by(one.tokens, other.tokens),
    nanoUsd: by(one.nanoUsd, other.nanoUsd),
  };
}

/** The sum of amounts. */
export function sumOf(amounts: Iterable<Amount>): Amount {
  let sum = NOTHING;
  for (const amount of amounts) sum = combine(sum, amount, (one, other) => one + other);
  return sum;
}

/** Limits as an amount that can be calculated with. */
export function boundOf({ calls, tokens, nanoUsd }: SpendingLimits): Amount {
  return { calls, tokens: tokens ?? Infinity, nanoUsd: nanoUsd ?? Infinity };
}

/** The limits that an amount stands for. */
export function limitsOf({ calls, tokens, nanoUsd }: Amount): SpendingLimits {
  return { calls, tokens: finiteOrNull(tokens), nanoUsd: finiteOrNull(nanoUsd) };
}

function finiteOrNull(bound: number): number | null {
  return Number.isFinite(bound) ? bound : null;
}

/** What a run has given away: all that is spent or set aside, and how much of it belongs to children. */
export interface Given {
  readonly committed: Amount;
  readonly shared: Amount;
}

/**
 * What is left of a child's share when the run's limits were lowered below what is committed: the excess is taken off
 * all shares in proportion. Nothing changes for a child where the limits hold all that was promised.
 *
 * The parent goes on holding the whole share until the child has ended, so a message that comes too late breaks nothing.
 */
export function scaleShare(share: SpendingLimits, limits: SpendingLimits, given: Given): SpendingLimits {
  const excess = combine(given.committed, boundOf(limits), (committed, bound) =>
    Math.max(0, committed - bound),
  );
  const kept = combine(excess, given.shared, keptOf);
  return limitsOf(
    combine(boundOf(share), kept, (held, part) => (part === 1 ? held : Math.floor(held * part))),
  );
}

/** The part of each share that can be kept, from 0 to 1. */
function keptOf(excess: number, shared: number): number {
  if (!(excess > 0)) return 1;
  return shared > excess && Number.isFinite(excess) ? (shared - excess) / shared : 0;
}
