import type { NightRecord, RunRecord } from './records';

/** What a night that is to begin, or to go on, may do. */
export interface Claim {
  readonly first: number;
  readonly last: number;
  /** The last cycle that is over; `first - 1` where none is. */
  readonly done: number;
  /** Nothing is left to be trained. */
  readonly isTrained: boolean;
}

/**
 * The cycles of a night. A night of a new date claims the next ones; one that is there already keeps those it has, so
 * that a second start, a backfill or the hour that a clock change repeats does not train it twice.
 *
 * What a night leaves untrained when it is closed can be claimed by a later one, and then it has nothing left to do. So
 * has a night that was interrupted, once a later one has gone on from its last checkpoint: two lines of descent would
 * else be mixed up.
 *
 * @param night null for a date that had none yet
 */
export function claimNight(run: RunRecord | null, night: NightRecord | null, cycles: number): Claim {
  const claimed = run?.claimed ?? 0;
  if (night === null) {
    return { first: claimed + 1, last: claimed + cycles, done: claimed, isTrained: false };
  }
  const { first, last, done, closedAt } = night;
  const isOvertaken = claimed > (closedAt === null ? last : done);
  const isOver = closedAt !== null && done >= last;
  return { first, last, done, isTrained: isOver || isOvertaken };
}

/** The last cycle that is claimed once a night is closed: what it left is there for the next one. */
export function claimedAfter({ claimed }: RunRecord, { last, done }: NightRecord): number {
  return claimed === last ? done : claimed;
}
