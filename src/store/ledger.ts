import type { Call } from '../protocol/call';
import type { Store } from './store';

/**
 * What was, or may have been, paid: one row per request to a model, written before it is sent and never removed. A row
 * whose process died stays as it was opened, `nanoUsd: null`, and makes every sum "at least".
 */
export interface LedgerRow extends Call {
  readonly rootId: string;
  readonly workflowId: string;
  readonly runId: string;
  /** Where the price came from that `nanoUsd` was computed with. */
  readonly priceVersion: string | null;
  readonly startedAt: string;
  /** null while the request is under way, and for good when its process died. */
  readonly endedAt: string | null;
}

/** The part of a row that the run's own trace shows. */
export function callOf(row: LedgerRow): Call {
  const { callId, purpose, round, step, attempt, worker, model, error, usage, nanoUsd } = row;
  return { callId, purpose, round, step, attempt, worker, model, error, usage, nanoUsd };
}

/** Opens the row of one attempt; false where a live attempt has that number already, whose row it stays. */
export function createRow(store: Store, row: LedgerRow): Promise<boolean> {
  return store.create(keyOf(row), Buffer.from(JSON.stringify(row)));
}

/** Completes the row of one attempt. */
export function writeRow(store: Store, row: LedgerRow): Promise<void> {
  return store.write(keyOf(row), Buffer.from(JSON.stringify(row)));
}

export async function readRow(store: Store, key: string): Promise<LedgerRow | null> {
  const bytes = await store.read(key);
  return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as LedgerRow);
}

/** The rows of one call, by attempt. */
export async function rowsOfCall(store: Store, runId: string, callId: string): Promise<LedgerRow[]> {
  const keys = await store.list(callFolder(runId, callId));
  const rows = await Promise.all(keys.map((key) => readRow(store, key)));
  return rows.filter((row) => row !== null).sort((a, b) => a.attempt - b.attempt);
}

/** The keys of the rows of one run, in ascending order. */
export function rowKeys(store: Store, runId: string): Promise<string[]> {
  return store.list(`ledger/${runId}/`);
}

/** The key of every row, as the store finds them: there may be millions. */
export async function* streamRowKeys(store: Store): AsyncGenerator<string> {
  let run = '';
  let seen = new Set<string>();
  for await (const { key } of store.entries('ledger/')) {
    const [, runId = ''] = key.split('/');
    if (runId !== run) [run, seen] = [runId, new Set()];
    // During a change of encryption keys, an object may lie there twice, both times in the folder of its run.
    if (!seen.has(key)) yield key;
    seen.add(key);
  }
}

function keyOf({ runId, callId, attempt }: LedgerRow): string {
  return `${callFolder(runId, callId)}${attempt}.json`;
}

function callFolder(runId: string, callId: string): string {
  return `ledger/${runId}/${callId}/`;
}
