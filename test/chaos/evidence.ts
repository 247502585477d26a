import type { SolveResult } from '../../src';
import type { LedgerRow } from '../../src/store/ledger';
import type { RequestRecord } from '../../src/testing';
import type { Keeping, Memory } from '../../examples/learn/support/worker';
import type { SharedLimit } from './audit-rates';
import type { Victim } from './kill-script';
import type { Heard } from './read-streams';

/** A process that was killed, in epoch milliseconds. */
export interface Kill {
  readonly victim: Victim;
  readonly at: number;
}

/** All that a run of the chaos leaves behind for the audit. */
export interface Evidence {
  /** Result of each requested solve: its trace, or null if nobody could get one in time. */
  readonly runs: ReadonlyMap<string, SolveResult | null>;
  /** The providers' own log, all their lives. A request with no outcome was cut by their end, and not billed. */
  readonly requests: readonly RequestRecord[];
  readonly rows: readonly LedgerRow[];
  /** None where the store shares none. */
  readonly limits: readonly SharedLimit[];
  readonly keepings: readonly Keeping[];
  /** Events of streams as their readers wrote them down; absent: nobody read. */
  readonly heard?: readonly Heard[];
  readonly kills: readonly Kill[];
  readonly plannedKills: number;
  /** Memory of a worker that is never killed: after the first solves and after the last. */
  readonly memory: { readonly before: Memory; readonly after: Memory };
  /** Worker processes that ended by themselves, with their last words. */
  readonly broken: readonly string[];
}

/** Something that must not be. */
export interface Finding {
  /** The law that was broken, in a few words. */
  readonly law: string;
  /** Actual and expected value. */
  readonly difference: string;
  /** Workflow id, where it is about one solve. */
  readonly run: string | null;
}

export function finding(law: string, difference: string, run: string | null = null): Finding {
  return { law, difference, run };
}
