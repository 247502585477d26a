import type { SolveResult } from '../../src/protocol/solve';
import type { LedgerRow } from '../../src/store/ledger';
import type { Evidence, Finding } from './evidence';

/** What a run tells of its calls is what the ledger holds of them: the same calls, the same sum, and no less doubt. */
export function auditTraces({ runs, rows }: Evidence): Finding[] {
  return [...runs].flatMap(([id, run]) => {
    if (run === null || run.status === 'running') return [];
    const own = rows.filter(({ workflowId }) => workflowId === id);
    return differencesOf(run, own).map((difference) => ({
      law: 'a trace adds up to the ledger',
      difference,
      run: id,
    }));
  });
}

function differencesOf(run: SolveResult, rows: readonly LedgerRow[]): string[] {
  const inTrace = new Map(run.calls.map((call) => [`${call.callId}/${call.attempt}`, call.nanoUsd]));
  const inLedger = new Map(rows.map((row) => [`${row.callId}/${row.attempt}`, row.nanoUsd]));
  const differing = [...new Set([...inTrace.keys(), ...inLedger.keys()])].filter(
    (key) => inTrace.get(key) !== inLedger.get(key),
  );
  const sum = [...inLedger.values()].reduce<number>((total, amount) => total + (amount ?? 0), 0);
  const hasUnknown = [...inLedger.values()].includes(null);
  return [
    ...differing.map(
      (key) =>
        `${key.slice(0, 12)}… is ${told(inTrace, key)} in the trace, ${told(inLedger, key)} in the ledger`,
    ),
    ...(Math.round(run.costUsd * 1e9) === sum
      ? []
      : [`the trace says $${run.costUsd}, the ledger ${sum} nano-USD`]),
    ...(hasUnknown && !run.costIsLowerBound
      ? ['the ledger has unknown amounts, and the trace calls its sum exact']
      : []),
  ];
}

function told(amounts: ReadonlyMap<string, number | null>, key: string): string {
  const amount = amounts.get(key);
  if (amount === undefined) return 'missing';
  return amount === null ? 'unknown' : `${amount} nano-USD`;
}
