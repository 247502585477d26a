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
  /** By how much the prompt caches of providers made it cheaper; below 0 where more was written than read. */
  readonly savedNanoUsd: number;
}

/** A day of the calendar, from the instant `begins` (ISO 8601, UTC) until before `ends`. */
export interface Day {
  readonly name: string;
  readonly begins: string;
  readonly ends: string;
}

/**
 * What the calls of a ledger come to, for a store that sums its rows by itself. Of times (ISO 8601, UTC), `from` is
 * included and `until` is not.
 */
export interface LedgerSums {
  /** A line for each value of a field, the dearest first, as they are taken: there may be very many. */
  sumBy(by: 'worker' | 'rootId' | 'model', from: string, until: string): AsyncIterable<CostLine>;
  /** A line for each day on which there was a call. */
  sumDays(days: readonly Day[]): Promise<readonly CostLine[]>;
  /** When the first and the last call of that time began; null where there is none. */
  span(from: string, until: string): Promise<{ readonly first: string; readonly last: string } | null>;
}
