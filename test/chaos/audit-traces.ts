import type { SolveResult } from '../../src';
import { groupBy } from '../../src/statistics/tally';
import type { LedgerRow } from '../../src/store/ledger';
import { type Evidence, type Finding, finding } from './evidence';

/**
 * Checks that the calls in a run's trace, read when all is over, match the ledger: the same calls and the same amounts.
 */
export function auditTraces({ runs, rows }: Evidence): Finding[] {
  const byRun = groupBy(rows, ({ workflowId }) => workflowId);
  return [...runs].flatMap(([id, run]) => {
    if (run === null || run.status === 'running') return [];
    const differences = differencesOf(run, byRun.get(id) ?? []);
    return differences.map((difference) => finding('a trace adds up to the ledger', difference, id));
  });
}

function differencesOf(run: SolveResult, rows: readonly LedgerRow[]): string[] {
  const inTrace = amountsOf(run.calls);
  const inLedger = amountsOf(rows);
  const keys = new Set([...inTrace.keys(), ...inLedger.keys()]);
  const differing = [...keys].filter((key) => inTrace.get(key) !== inLedger.get(key));
  const amounts = [...inTrace.values()];
  const sum = amounts.reduce<number>((total, amount) => total + (amount ?? 0), 0);
  return [
    ...differing.map(
      (key) =>
        `${key.slice(0, 12)}… is ${told(inTrace, key)} in the trace, ${told(inLedger, key)} in the ledger`,
    ),
    ...(Math.round(run.costUsd * 1e9) === sum
      ? []
      : [`the trace says $${run.costUsd}, and its calls come to ${sum} nano-USD`]),
    ...(amounts.includes(null) && !run.costIsLowerBound
      ? ['the trace has a call of unknown cost, and calls its sum exact']
      : []),
  ];
}

function keyOf({ callId, attempt }: Pick<LedgerRow, 'callId' | 'attempt'>): string {
  return `${callId}/${attempt}`;
}

type Amounts = ReadonlyMap<string, number | null>;

function amountsOf(calls: readonly Pick<LedgerRow, 'callId' | 'attempt' | 'nanoUsd'>[]): Amounts {
  return new Map(calls.map((call) => [keyOf(call), call.nanoUsd]));
}

function told(amounts: Amounts, key: string): string {
  const amount = amounts.get(key);
  if (amount === undefined) return 'missing';
  return amount === null ? 'unknown' : `${amount} nano-USD`;
}
