import { type LedgerRow, readRow, streamRowKeys } from './ledger';
import type { Store } from './store';
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

/** The sums of a number of calls. */
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

export interface CostReport {
  readonly by: CostGroup;
  /** Days in order of time, else the dearest first. A group without a call has no line. */
  readonly lines: readonly CostLine[];
  readonly total: CostLine;
}

/**
 * Sums what the calls in a ledger cost. Every row is read, since its key names no day; only the sums are in memory.
 *
 * @param onRow is called with the number of rows read so far
 */
export async function sumCosts(
  store: Store,
  { by, since, until, zone }: CostQuery,
  onRow: (count: number) => void = () => undefined,
): Promise<CostReport> {
  const nameOf = groupBy(by, zone);
  const lines = new Map<string, CostLine>();
  let total: CostLine = { name: 'total', ...EMPTY };
  let count = 0;
  await eachInParallel(streamRowKeys(store), async (key) => {
    const row = await readRow(store, key);
    onRow((count += 1));
    if (row === null) return;
    if (row.startedAt < (since?.begins ?? '') || row.startedAt >= (until?.ends ?? '~')) return;
    const name = nameOf(row);
    lines.set(name, withRow(lines.get(name) ?? { name, ...EMPTY }, row));
    total = withRow(total, row);
  });
  const byName = (one: CostLine, other: CostLine): number => (one.name < other.name ? -1 : 1);
  const dearestFirst = (one: CostLine, other: CostLine): number =>
    other.nanoUsd - one.nanoUsd || byName(one, other);
  return { by, lines: [...lines.values()].sort(by === 'day' ? byName : dearestFirst), total };
}

function groupBy(by: CostGroup, zone: Zone): (row: LedgerRow) => string {
  // Sweden writes dates as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone === 'utc' ? 'UTC' : undefined });
  return {
    day: ({ startedAt }: LedgerRow) => format.format(new Date(startedAt)),
    worker: ({ worker }: LedgerRow) => worker,
    workflow: ({ rootId }: LedgerRow) => rootId,
    model: ({ model }: LedgerRow) => model,
  }[by];
}

const EMPTY = { calls: 0, open: 0, unknown: 0, inputTokens: 0, outputTokens: 0, nanoUsd: 0 };

function withRow(line: CostLine, { endedAt, usage, nanoUsd }: LedgerRow): CostLine {
  return {
    name: line.name,
    calls: line.calls + 1,
    open: line.open + (endedAt === null ? 1 : 0),
    unknown: line.unknown + (nanoUsd === null ? 1 : 0),
    inputTokens: line.inputTokens + (usage?.inputTokens ?? 0),
    outputTokens: line.outputTokens + (usage?.outputTokens ?? 0),
    nanoUsd: line.nanoUsd + (nanoUsd ?? 0),
  };
}

/** A day of the calendar, from the instant `begins` (ISO 8601, UTC) until before `ends`. */
export interface Day {
  readonly name: string;
  readonly begins: string;
  readonly ends: string;
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
