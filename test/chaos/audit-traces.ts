import { FAILURES } from '../../src/protocol/failures';
import type { SolveResult } from '../../src/protocol/solve';
import type { LedgerRow } from '../../src/store/ledger';
import type { Evidence, Finding } from './evidence';
import { groupBy } from './group-by';

/**
 * What a run tells of its calls is what the ledger holds of them: the same calls and the same amounts.
 *
 * It may know less in these cases. An attempt that the server had given up for lost went on, and completed its row after
 * its run had been told of it: the trace must then call its sum a lower bound. Such an attempt may also have opened a row
 * of which no run is told. So may one that cost nothing and was to be repeated when its run was cancelled. A call that
 * was cancelled while the store failed is counted as unknown, though no row was ever written.
 */
export function auditTraces({ runs, rows }: Evidence): Finding[] {
  const byRun = groupBy(rows, ({ workflowId }) => workflowId);
  return [...runs].flatMap(([id, run]) => {
    if (run === null || run.status === 'running') return [];
    return differencesOf(run, byRun.get(id) ?? []).map((difference) => ({
      law: 'a trace adds up to the ledger',
      difference,
      run: id,
    }));
  });
}

function differencesOf(run: SolveResult, rows: readonly LedgerRow[]): string[] {
  const inTrace = amountsOf(run.calls);
  const inLedger = amountsOf(rows);
  const untold = new Set(rows.filter(mayBeUntold).map(keyOf));
  const keys = new Set([...inTrace.keys(), ...inLedger.keys()]);
  const differing = [...keys].filter((key) => {
    const knowsLess = inTrace.get(key) === null && inLedger.has(key);
    const isUnaccounted = run.status === 'cancelled' && key.startsWith('unaccounted/');
    const isUntold = !inTrace.has(key) && untold.has(key);
    return !knowsLess && !isUnaccounted && !isUntold && inTrace.get(key) !== inLedger.get(key);
  });
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

/** Never an answer that was paid for. */
function mayBeUntold({ nanoUsd, error }: LedgerRow): boolean {
  return nanoUsd === 0 || (nanoUsd === null && error?.type === FAILURES.workerStopped);
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
