import { type LedgerRow, readRow, streamRowKeys } from './ledger';
import type { CostLine, Day, LedgerSums, Store } from './store';
import { eachInParallel } from './sweep';

/** A workflow is a solve that a person asked for, with everything it called. */
export const COST_GROUPS = ['day', 'worker', 'workflow', 'model'] as const;

export type CostGroup = (typeof COST_GROUPS)[number];

export interface CostQuery {
  readonly by: CostGroup;
  /** Only calls that started from this day on, and up to that one, both included. */
  readonly since?: Day;
  readonly until?: Day;
  readonly zone: Zone;
}

export interface CostReport {
  readonly by: CostGroup;
  /** Days in order of time, else the most expensive first. A group without a call has no line. */
  readonly lines: readonly CostLine[];
  readonly total: CostLine;
}

/**
 * Sums what the calls in a ledger cost: by a query where the store can, else by reading every row, since its key names
 * no day.
 *
 * @param onRow is called with the number of rows read so far
 */
export async function sumCosts(
  store: Store,
  query: CostQuery,
  onRow: (count: number) => void = () => undefined,
): Promise<CostReport> {
  const lines =
    store.ledger === undefined ? await readLines(store, query, onRow) : await askLedger(store.ledger, query);
  lines.sort(query.by === 'day' ? byName : mostExpensiveFirst);
  return { by: query.by, lines, total: lines.reduce(add, { name: 'total', ...EMPTY }) };
}

async function askLedger(ledger: LedgerSums, { by, since, until, zone }: CostQuery): Promise<CostLine[]> {
  const [from, end] = [since?.begins ?? FIRST, until?.ends ?? LAST];
  if (by === 'day') return [...(await ledger.sumDays(daysOf(await ledger.span(from, end), zone)))];
  const lines: CostLine[] = [];
  for await (const line of ledger.sumBy(by === 'workflow' ? 'rootId' : by, from, end)) lines.push(line);
  return lines;
}

function byName(one: CostLine, other: CostLine): number {
  return one.name < other.name ? -1 : 1;
}

function mostExpensiveFirst(one: CostLine, other: CostLine): number {
  return other.nanoUsd - one.nanoUsd || byName(one, other);
}

async function readLines(
  store: Store,
  { by, since, until, zone }: CostQuery,
  onRow: (count: number) => void,
): Promise<CostLine[]> {
  const nameOf = groupBy(by, zone);
  const lines = new Map<string, CostLine>();
  let count = 0;
  await eachInParallel(streamRowKeys(store), async (key) => {
    const row = await readRow(store, key);
    onRow((count += 1));
    if (row === null) return;
    if (row.startedAt < (since?.begins ?? FIRST) || row.startedAt >= (until?.ends ?? LAST)) return;
    const name = nameOf(row);
    lines.set(name, add(lines.get(name) ?? { name, ...EMPTY }, lineOf(row)));
  });
  return [...lines.values()];
}

/** Times that are before and after all others. */
const [FIRST, LAST] = ['', '~'];

/** From the day of the first call to that of the last. */
function daysOf(span: Awaited<ReturnType<LedgerSums['span']>>, zone: Zone): readonly Day[] {
  const days: Day[] = [];
  const nameOf = dayNames(zone);
  for (let at = span?.first; span !== null && at !== undefined && at <= span.last; at = days.at(-1)?.ends) {
    const day = readDay(nameOf(at), zone);
    if (day === null) break;
    days.push(day);
  }
  return days;
}

function groupBy(by: CostGroup, zone: Zone): (row: LedgerRow) => string {
  const dayOf = dayNames(zone);
  return {
    day: ({ startedAt }: LedgerRow) => dayOf(startedAt),
    worker: ({ worker }: LedgerRow) => worker,
    workflow: ({ rootId }: LedgerRow) => rootId,
    model: ({ model }: LedgerRow) => model,
  }[by];
}

/** The date of an instant. */
function dayNames(zone: Zone): (instant: string) => string {
  // Sweden writes dates as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone === 'utc' ? 'UTC' : undefined });
  return (instant) => format.format(new Date(instant));
}

const EMPTY = { calls: 0, open: 0, unknown: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0, savedNanoUsd: 0 };

function lineOf({ endedAt, usage, nanoUsd, savedNanoUsd }: LedgerRow): CostLine {
  return {
    name: '',
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
  return {
    name: line.name,
    calls: line.calls + other.calls,
    open: line.open + other.open,
    unknown: line.unknown + other.unknown,
    inputTokens: line.inputTokens + other.inputTokens,
    outputTokens: line.outputTokens + other.outputTokens,
    nanoUsd: line.nanoUsd + other.nanoUsd,
    savedNanoUsd: line.savedNanoUsd + other.savedNanoUsd,
  };
}

/** Days begin at midnight in this machine's time zone (`TZ`), or in UTC. */
export type Zone = 'local' | 'utc';

/** Reads a date, `YYYY-MM-DD`; null for one that no calendar has. */
export function readDay(name: string, zone: Zone): Day | null {
  const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
  const midnight = Date.parse(`${name}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(name) || Number.isNaN(midnight) || dateOf(midnight) !== name) return null;
  // Days in which clocks are put forward or back are not 24 hours long: each ends where the next begins.
  const next = dateOf(midnight + 24 * 60 * 60 * 1000);
  return { name, begins: beginOf(name, zone), ends: beginOf(next, zone) };
}

/** A date and time without an offset is one of the local time zone, says ECMAScript. */
function beginOf(name: string, zone: Zone): string {
  return new Date(`${name}T00:00:00${zone === 'utc' ? 'Z' : ''}`).toISOString();
}
