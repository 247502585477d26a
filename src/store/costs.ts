import type { Database } from 'libsql';

/** What a number of calls came to. */
export interface CostLine {
  /** The day, worker, workflow or model; `total` for all of them. */
  readonly name: string;
  readonly calls: number;
  /** Calls that are not over: under way, or of a process that died. */
  readonly open: number;
  /** Calls whose cost is unknown, open ones included: the real sum is at least `nanoUsd`. */
  readonly unknown: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** 10⁻⁹ USD; exact up to 9 million USD. */
  readonly nanoUsd: number;
}

export interface CostQuery {
  readonly by: CostGroup;
  /** Only calls that were begun from this day on, and up to that one, both included. */
  readonly since?: Day;
  readonly until?: Day;
  readonly zone: Zone;
}

/** Sums over the calls of a time. */
export interface CostReport {
  readonly by: CostGroup;
  /** By day in order of time, else the dearest first. */
  readonly lines: readonly CostLine[];
  readonly total: CostLine;
}

const NAMES: Readonly<Record<CostGroup, string>> = {
  day: "span.value ->> 'name'",
  worker: 'worker',
  workflow: 'root_id',
  model: 'model',
};

/** Sums what the calls in an index cost. A group without a call has no line. */
export function sumCosts(index: Database, query: CostQuery): CostReport {
  const { by } = query;
  const spans = spansOf(index, query);
  const order = by === 'day' ? 'name' : 'nanoUsd DESC, name';
  const [total = NOTHING] = select(index, "'total'", 'name', spans);
  return { by, lines: select(index, NAMES[by], order, spans), total };
}

const NOTHING: CostLine = {
  name: 'total',
  calls: 0,
  open: 0,
  unknown: 0,
  inputTokens: 0,
  outputTokens: 0,
  nanoUsd: 0,
};

/** The days that are looked at, up to those of the first and the last call. */
function spansOf(index: Database, { since, until, zone }: CostQuery): Day[] {
  const [bounds] = index
    .prepare<[]>('SELECT min(started_at) AS first, max(started_at) AS last FROM request HAVING count(*) > 0')
    .all() as { first: string; last: string }[];
  if (bounds === undefined) return [];
  return daysBetween(bounds.first, bounds.last, zone).filter(
    ({ begins, ends }) => ends > (since?.begins ?? '') && begins < (until?.ends ?? '~'),
  );
}

function select(index: Database, name: string, order: string, spans: readonly Day[]): CostLine[] {
  // CROSS JOIN: days first, and of each only its calls, by the index on their begin.
  const statement = index.prepare<[string]>(`
    SELECT ${name} AS name,
      count(*) AS calls,
      sum(ended_at IS NULL) AS open,
      sum(nano_usd IS NULL) AS unknown,
      sum(input_tokens) AS inputTokens,
      sum(output_tokens) AS outputTokens,
      coalesce(sum(nano_usd), 0) AS nanoUsd
    FROM json_each(?) AS span CROSS JOIN request
      ON started_at >= span.value ->> 'begins' AND started_at < span.value ->> 'ends'
    GROUP BY 1 ORDER BY ${order}`);
  return statement.all(JSON.stringify(spans)) as CostLine[];
}

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

/** What costs can be summed by. A workflow is a solve that a person asked for, with everything it called. */
export const COST_GROUPS = ['day', 'worker', 'workflow', 'model'] as const;

export type CostGroup = (typeof COST_GROUPS)[number];
