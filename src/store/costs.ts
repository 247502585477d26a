import { DAY_MS } from '../config/duration';
import { TOOL_CALL_ID } from '../protocol/tool-use';
import { type LedgerRow, readRow, rowPlace } from './ledger';
import { type CostGroup, type CostLine, type CalendarDay, eachInParallel, type Store } from './store';

export interface CostQuery {
  readonly by: CostGroup;
  /** First and last day on which the counted calls started, both included. */
  readonly since?: CalendarDay;
  readonly until?: CalendarDay;
  readonly zone: Zone;
  /** Prefix of the group names to include. */
  readonly prefix?: string;
}

export interface CostReport {
  readonly by: CostGroup;
  /** Days, and their workers, in order of time; other groups by falling cost. A group without a call has no line. */
  readonly lines: readonly CostLine[];
  readonly total: CostLine;
}

/** Group of all spending without an API key: the command line, nights and evaluations. */
const NO_KEY = 'no key';

/**
 * Sums the costs of the calls in a ledger: by a query if the store can, else by reading every row, counted by `onRow`.
 */
export async function sumCosts(
  store: Store,
  { by, since, until, zone, prefix = '' }: CostQuery,
  onRow: (count: number) => void = () => undefined,
): Promise<CostReport> {
  // Strings that sort before and after all timestamps.
  const [from, end] = [since?.begins ?? '', until?.ends ?? '~'];
  const dayOf = dayNames(zone);
  const sums = new Map<string, CostLine>();
  const take = (line: CostLine): void => {
    const name = nameOfGroup(by, line.name, dayOf);
    sums.set(name, add(sums.get(name) ?? { name, ...EMPTY }, line));
  };
  if (store.sums === undefined || by === 'tool') {
    let count = 0;
    await eachInParallel(streamRowKeys(store), async (key) => {
      if (by === 'tool' && !rowPlace(key).callId.startsWith(TOOL_CALL_ID)) return;
      const row = await readRow(store, key);
      onRow((count += 1));
      if (row !== null && row.startedAt >= from && row.startedAt < end) take(lineOf(row, fieldOf(row, by)));
    });
  } else {
    (await store.sums(by, from, end)).forEach(take);
  }
  const mostExpensiveFirst = (one: CostLine, other: CostLine): number =>
    other.nanoUsd - one.nanoUsd || byName(one, other);
  const counted = [...sums.values()].filter(({ name }) => name.startsWith(prefix));
  const lines = counted.sort(by.startsWith('day') ? byName : mostExpensiveFirst);
  return { by, lines, total: lines.reduce(add, { name: 'total', ...EMPTY }) };
}

/** Yields the key of every row as the store finds it: there may be millions. */
async function* streamRowKeys(store: Store): AsyncGenerator<string> {
  let run = '';
  let seen = new Set<string>();
  for await (const { key } of store.entries('ledger/')) {
    const [, runId = ''] = key.split('/');
    if (runId !== run) [run, seen] = [runId, new Set()];
    // During a change of encryption keys, an object may exist twice, both times in the folder of its run.
    if (!seen.has(key)) yield key;
    seen.add(key);
  }
}

/** Maps what a row holds to the name of its group. The id of a solve that the gateway started begins with that of its key. */
function nameOfGroup(by: CostGroup, value: string, dayOf: (instant: string) => string): string {
  if (by === 'key') return /^gw-([0-9a-z]{10})-/.exec(value)?.[1] ?? NO_KEY;
  if (!by.startsWith('day')) return value;
  const [instant = '', ...worker] = value.split(' ');
  return [dayOf(instant), ...worker].join(' ');
}

function fieldOf({ startedAt: day, worker, rootId, model, error }: LedgerRow, by: CostGroup): string {
  const tool = `${model} ${error?.type ?? 'ok'}`;
  return { day, worker, workflow: rootId, model, key: rootId, 'day-worker': `${day} ${worker}`, tool }[by];
}

function byName(one: CostLine, other: CostLine): number {
  return one.name < other.name ? -1 : 1;
}

function dayNames(zone: Zone): (instant: string) => string {
  // Timestamps are stored in UTC.
  if (zone === 'utc') return (instant) => instant.slice(0, 10);
  // The Swedish locale writes dates as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE');
  return (instant) => format.format(new Date(instant));
}

/** Adds the amounts in USD to a line, beside the exact ones. */
export function withUsd(line: CostLine): CostLine & PlainUsd {
  const { nanoUsd, savedNanoUsd, unknown } = line;
  return { ...line, costUsd: nanoUsd / 1e9, costIsLowerBound: unknown > 0, savedUsd: savedNanoUsd / 1e9 };
}

interface PlainUsd {
  readonly costUsd: number;
  readonly costIsLowerBound: boolean;
  readonly savedUsd: number;
}

const EMPTY = { calls: 0, open: 0, unknown: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0, savedNanoUsd: 0 };
const SUMMED = Object.keys(EMPTY) as (keyof typeof EMPTY)[];

function lineOf({ endedAt, usage, nanoUsd, savedNanoUsd }: LedgerRow, name: string): CostLine {
  return {
    name,
    calls: 1,
    open: endedAt === null ? 1 : 0,
    unknown: nanoUsd === null ? 1 : 0,
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    nanoUsd: nanoUsd ?? 0,
    savedNanoUsd: savedNanoUsd ?? 0,
  };
}

function add(line: CostLine, other: CostLine): CostLine {
  const sum = { ...line };
  for (const field of SUMMED) sum[field] += other[field];
  return sum;
}

/** Time zone of the midnights that begin the days: this machine's (`TZ`), or UTC. */
export type Zone = 'local' | 'utc';

/** Returns the UTC date of a time in milliseconds, `YYYY-MM-DD`. */
export function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Parses a date, `YYYY-MM-DD`. Returns null if it does not exist in the calendar. */
export function readDay(name: string, zone: Zone): CalendarDay | null {
  const midnight = Date.parse(`${name}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(name) || Number.isNaN(midnight) || dateOf(midnight) !== name) return null;
  // Days on which the clocks change are not 24 hours long, so each day ends when the next begins.
  const next = dateOf(midnight + DAY_MS);
  return { name, begins: beginOf(name, zone), ends: beginOf(next, zone) };
}

/** Returns the instant at which a day begins. ECMAScript reads a date and time without an offset as local. */
function beginOf(name: string, zone: Zone): string {
  return new Date(`${name}T00:00:00${zone === 'utc' ? 'Z' : ''}`).toISOString();
}
