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

/**
 * What the calls of a ledger come to, for a store that sums its rows by itself. Of times (ISO 8601, UTC), `from` is
 * included and `until` is not.
 */
export interface LedgerSums {
  /** A line for each value of a field, or one for all rows where there is any. */
  sum(by: 'worker' | 'rootId' | 'model' | null, from: string, until: string): Promise<readonly CostLine[]>;
  /** When the first call from a time on began; null where there is none. */
  firstFrom(time: string): Promise<string | null>;
}
