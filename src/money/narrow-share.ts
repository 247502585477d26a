import { boundOf, combine, limitsOf, type Amount, type SpendingLimits } from './amount';

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
export function narrowShare(share: SpendingLimits, limits: SpendingLimits, given: Given): SpendingLimits {
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
