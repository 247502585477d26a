/** A day of the calendar, and the instants (ISO 8601, UTC) it lies between: from `begins` on, and before `ends`. */
export interface Day {
  /** `YYYY-MM-DD` */
  readonly name: string;
  readonly begins: string;
  readonly ends: string;
}

/** Whose midnight parts the days: that of this machine's time zone (`TZ`), or of UTC. */
export type Zone = 'local' | 'utc';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Reads a date, `YYYY-MM-DD`; null for one that no calendar has. */
export function readDay(name: string, zone: Zone): Day | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(name) || later(name, 0) !== name) return null;
  // Days in which clocks are put forward or back are not 24 hours long: each ends where the next begins.
  return { name, begins: beginOf(name, zone), ends: beginOf(later(name, 1), zone) };
}

/** Every day from that of one instant to that of a later one, in order. */
export function daysBetween(first: string, last: string, zone: Zone): Day[] {
  const days: Day[] = [];
  let day = readDay(nameOf(first, zone), zone);
  while (day !== null && day.begins <= last) {
    days.push(day);
    day = readDay(later(day.name, 1), zone);
  }
  return days;
}

/** Some days later, by the calendar; empty for a date that is none. */
function later(name: string, days: number): string {
  const time = Date.parse(`${name}T00:00:00Z`) + days * DAY_MS;
  return Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, 10);
}

/** A date and time without an offset is one of the local time zone, says ECMAScript. */
function beginOf(name: string, zone: Zone): string {
  return new Date(`${name}T00:00:00${zone === 'utc' ? 'Z' : ''}`).toISOString();
}

/** The date of an instant. Sweden writes dates as ISO 8601 does. */
function nameOf(instant: string, zone: Zone): string {
  const options = zone === 'utc' ? { timeZone: 'UTC' } : {};
  return new Intl.DateTimeFormat('sv-SE', options).format(new Date(instant));
}
