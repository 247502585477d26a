/** A moment at which the clocks of a time zone are put forward or back. Offsets from UTC in milliseconds. */
export interface ClockChange {
  /** The first moment of the new time, in milliseconds since 1970. */
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * Every change of a zone's clocks between two moments, oldest first, as the time-zone data of this process knows them.
 * No zone changes its clocks twice within a day.
 *
 * @throws RangeError for an unknown time zone
 */
export function findClockChanges(timeZone: string, from: number, until: number): ClockChange[] {
  const offsetAt = offsetsOf(timeZone);
  const changes: ClockChange[] = [];
  for (let day = floorToMinute(from); day < until; day += DAY) {
    const [before, after] = [offsetAt(day), offsetAt(day + DAY)];
    if (before === after) continue;
    const at = firstMinute(day, day + DAY, (moment) => offsetAt(moment) === after);
    if (at < until) changes.push({ at, before, after });
  }
  return changes;
}

/** A clock on the wall, read as if it were UTC: what it shows is found with the UTC methods of `Date`. */
export type WallTime = number;

/** Times on the wall that a change leaves out (`skipped`) or shows twice (`repeated`): from the first up to, without, the last. */
export function wallTimesOf({ at, before, after }: ClockChange): {
  readonly kind: 'skipped' | 'repeated';
  readonly from: WallTime;
  readonly until: WallTime;
} {
  return after > before
    ? { kind: 'skipped', from: at + before, until: at + after }
    : { kind: 'repeated', from: at + after, until: at + before };
}

function offsetsOf(timeZone: string): (moment: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (moment) => {
    const shown = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const read = (type: Intl.DateTimeFormatPartTypes): number => shown.get(type) ?? 0;
    return (
      Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second')) -
      moment
    );
  };
}

/** By halves: false at `low`, true at `high`, and a change in between. */
function firstMinute(low: number, high: number, isAfter: (moment: number) => boolean): number {
  while (high - low > MINUTE) {
    const middle = floorToMinute((low + high) / 2);
    if (isAfter(middle)) high = middle;
    else low = middle;
  }
  return high;
}

function floorToMinute(moment: number): number {
  return Math.floor(moment / MINUTE) * MINUTE;
}
