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

/** A moment at which the clocks of a time zone are put forward or back. Offsets from UTC in milliseconds. */
export interface ClockChange {
  /** The first moment of the new time, in milliseconds since 1970. */
  readonly at: number;
  readonly before: number;
  readonly after: number;
}
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

/** What each of the five fields of a cron expression allows. */
export interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  /** From 1. */
  readonly months: ReadonlySet<number>;
  /** From 0, Sunday. */
  readonly weekdays: ReadonlySet<number>;
}

interface Field {
  readonly least: number;
  readonly most: number;
  /** Names of its values, from `least` on. */
  readonly names: readonly string[];
}

const FIELDS: readonly Field[] = [
  { least: 0, most: 59, names: [] },
  { least: 0, most: 23, names: [] },
  { least: 1, most: 31, names: [] },
  { least: 1, most: 12, names: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  // Sunday is 0 and 7.
  { least: 0, most: 7, names: 'sun mon tue wed thu fri sat'.split(' ') },
];

/**
 * Reads a cron expression of five fields: minute, hour, day of month, month, day of week. Each is a star, a value or a
 * range, the star and the range with a step or without (`8-18/2`), or several of these separated by commas.
 *
 * @returns null for anything else, more fields included
 */
export function parseCron(expression: string): Cron | null {
  const texts = expression.trim().split(/\s+/);
  if (texts.length !== FIELDS.length) return null;
  const fields = FIELDS.map((field, place) => readField(texts[place] ?? '', field));
  const [minutes, hours, days, months, weekdays] = fields;
  if (!minutes || !hours || !days || !months || !weekdays) return null;
  return { minutes, hours, days, months, weekdays: new Set([...weekdays].map((day) => day % 7)) };
}

/** Whether a schedule of this expression is due when clocks show this. All fields must fit, as Temporal has it. */
export function isDue({ minutes, hours, days, months, weekdays }: Cron, wall: WallTime): boolean {
  const shown = new Date(wall);
  return (
    minutes.has(shown.getUTCMinutes()) &&
    hours.has(shown.getUTCHours()) &&
    days.has(shown.getUTCDate()) &&
    months.has(shown.getUTCMonth() + 1) &&
    weekdays.has(shown.getUTCDay())
  );
}

function readField(text: string, field: Field): Set<number> | null {
  const ranges = text.split(',').map((part) => readRange(part, field));
  const values = new Set<number>();
  for (const range of ranges) {
    if (range === null) return null;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
  }
  return values;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

const RANGE = /^(?<values>\*|\w+(?:-\w+)?)(?:\/(?<every>\d{1,2}))?$/;

function readRange(text: string, field: Field): Range | null {
  const { values = '', every } = RANGE.exec(text)?.groups ?? {};
  const bounds = readBounds(values, every !== undefined, field);
  const step = Number(every ?? 1);
  return bounds === null || bounds.from > bounds.to || step < 1 ? null : { ...bounds, step };
}

/** @param isOpen a single value is a beginning without an end, since a step follows it */
function readBounds(values: string, isOpen: boolean, field: Field): Omit<Range, 'step'> | null {
  if (values === '*') return { from: field.least, to: field.most };
  const [first = '', last] = values.split('-');
  const from = readValue(first, field);
  const end = isOpen ? field.most : from;
  const to = last === undefined ? end : readValue(last, field);
  return from === null || to === null ? null : { from, to };
}

function readValue(text: string, { least, most, names }: Field): number | null {
  const named = names.indexOf(text.toLowerCase());
  const value = named >= 0 ? named + least : /^\d{1,2}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : null;
}
