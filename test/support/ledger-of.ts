import type { Amount } from '../../src/budget/amount';
import { type LedgerRow, readRow } from '../../src/store/ledger';
import type { Store } from '../../src';

/** Returns the row of a step that was answered, with changes. */
export function aRow(changes: Partial<LedgerRow> = {}): LedgerRow {
  return {
    callId: 'c0'.repeat(32),
    rootId: 'solve-1',
    workflowId: 'solve-1',
    runId: 'run-1',
    purpose: 'step',
    round: 0,
    step: 0,
    attempt: 1,
    worker: 'a',
    model: 'm',
    error: null,
    usage: { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, reasoningTokens: 0 },
    nanoUsd: 70_000,
    priceVersion: 'card',
    startedAt: '2026-01-01T12:00:00.000Z',
    endedAt: '2026-01-01T12:00:01.000Z',
    ...changes,
  };
}

/** Fields of a row while its request is under way. */
export const OPEN = { usage: null, nanoUsd: null, endedAt: null };

/** Returns every row of a run and of its descendants. */
export async function ledgerOf(store: Store, rootId: string): Promise<LedgerRow[]> {
  return (await readLedger(store)).filter((row) => row.rootId === rootId);
}

/** Returns every row of the ledger. */
export function readLedger(store: Store): Promise<LedgerRow[]> {
  return rowsBelow(store, 'ledger/');
}

/** Returns the rows of one workflow run, in the order in which their requests started. */
export async function rowsOfRun(store: Store, runId: string): Promise<LedgerRow[]> {
  const rows = await rowsBelow(store, `ledger/${runId}/`);
  return rows.sort((a, b) => a.attempt - b.attempt).sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1));
}

async function rowsBelow(store: Store, prefix: string): Promise<LedgerRow[]> {
  const rows = await Promise.all((await store.list(prefix)).map((key) => readRow(store, key)));
  return rows.filter((row) => row !== null);
}

/** Sums the known costs of rows, of a trace's calls, or of requests that a provider saw. */
export function spentBy(calls: readonly Pick<LedgerRow, 'usage' | 'nanoUsd'>[]): Amount {
  return {
    calls: calls.length,
    tokens: calls.reduce((sum, { usage }) => sum + (usage ? usage.inputTokens + usage.outputTokens : 0), 0),
    nanoUsd: calls.reduce((sum, { nanoUsd }) => sum + (nanoUsd ?? 0), 0),
  };
}
