import { findClockChanges, wallTimesOf, type WallTime } from './clock-changes';
import { isDue, type Cron } from './cron';

/** A time of a schedule that a clock change leaves out or brings twice. */
export interface ClockHazard {
  readonly kind: 'skipped' | 'repeated';
  /** Local date, e.g. `2027-03-28`. */
  readonly date: string;
  /** Local time, e.g. `02:30`. */
  readonly time: string;
}

const MINUTE = 60_000;

/**
 * Where a schedule and the clock changes of its zone meet, oldest first. Temporal leaves a skipped time out; at a repeated
 * one it is due once or twice (twice west of Greenwich, as server 1.32 has it), which is one night either way.
 *
 * @param from moments in milliseconds since 1970
 * @throws RangeError for an unknown time zone
 */
export function findHazards(cron: Cron, timeZone: string, from: number, until: number): ClockHazard[] {
  return findClockChanges(timeZone, from, until).flatMap((change) => {
    const times = wallTimesOf(change);
    const due = minutesOf(times).filter((wall) => isDue(cron, wall));
    return due.map((wall) => ({ kind: times.kind, ...show(wall) }));
  });
}

function minutesOf({ from, until }: { readonly from: WallTime; readonly until: WallTime }): WallTime[] {
  return Array.from({ length: Math.ceil((until - from) / MINUTE) }, (_, minute) => from + minute * MINUTE);
}

function show(wall: WallTime): Pick<ClockHazard, 'date' | 'time'> {
  const shown = new Date(wall).toISOString();
  return { date: shown.slice(0, 10), time: shown.slice(11, 16) };
}
