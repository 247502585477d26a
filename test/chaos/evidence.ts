import type { SolveResult } from '../../src';
import type { LedgerRow } from '../../src/store/ledger';
import type { RequestRecord } from '../../src/testing';
import type { Keeping, Memory } from '../../research/support/worker';
import type { SharedLimit } from './audit-rates';
import type { Victim } from './kill-script';
import type { Heard } from './read-streams';

/** Server of tools: a program of a worker process, or one for all. */
export type ToolServer = 'tools over stdio' | 'tools over HTTP';

/** A process that was killed, and when (epoch milliseconds). */
export interface Kill {
  readonly victim: Victim | ToolServer | 'gateway';
  readonly at: number;
}

/** Everything that a chaos run leaves for the audit. */
export interface Evidence {
  /** Trace of each requested solve, or null if the server does not know the run. */
  readonly runs: ReadonlyMap<string, SolveResult | null>;
  /** The providers' own log, across restarts. A request without an outcome was cut off by a kill, and not billed. */
  readonly requests: readonly RequestRecord[];
  readonly rows: readonly LedgerRow[];
  /** Empty if workers cannot share limits through this store. */
  readonly limits: readonly SharedLimit[];
  readonly keepings: readonly Keeping[];
  /** Events of streams as their readers recorded them; absent if nobody read. */
  readonly heard?: readonly Heard[];
  readonly kills: readonly Kill[];
  readonly plannedKills: number;
  /** Memory of a worker that is never killed: after the first solves and after the last. */
  readonly memory: { readonly before: Memory; readonly after: Memory };
  /** Messages about workers and readers that ended without being killed. */
  readonly broken: readonly string[];
}

/** A violation that the audit found. */
export interface Finding {
  /** The rule that was broken, in a few words. */
  readonly law: string;
  /** Actual and expected value. */
  readonly difference: string;
  /** Workflow id if the finding is about one solve, else null. */
  readonly run: string | null;
}

export function finding(law: string, difference: string, run: string | null = null): Finding {
  return { law, difference, run };
}
