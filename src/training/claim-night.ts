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
 * The cycles of a night. A night of a new date claims those that follow the run's last; one that is there already keeps
 * those it has, so that a second start, a backfill or the hour that a clock change repeats does not train it twice.
 *
 * What a night leaves untrained, however it ended, is there for the next one: no cycle is left out, and what was sampled
 * for it serves again. The earlier night then has nothing left to do, lest two lines of descent be mixed up; but where it
 * had trained nothing yet, it begins after them.
 *
 * @param night null for a date that had none yet
 */
export function claimNight(run: RunRecord | null, night: NightRecord | null, cycles: number): Claim {
  const trained = run?.done ?? 0;
  if (night === null || night.done < night.first) {
    const count = night === null ? cycles : 1 + night.last - night.first;
    return { first: trained + 1, last: trained + count, done: trained, isTrained: false };
  }
  const { first, last, done, closedAt } = night;
  const isOver = closedAt !== null && done >= last;
  return { first, last, done, isTrained: isOver || isOvertaken(night, run) };
}

/** A later night has trained what this one left: it does not go on from where it stands. */
export function isOvertaken({ done }: NightRecord, run: RunRecord | null): boolean {
  return done < (run?.done ?? 0);
}
