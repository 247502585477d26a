import type { Database } from 'libsql';
import { readRow, rowKeys, type LedgerRow } from '../store/ledger';
import type { Store } from '../store/store';

/** How many rows are read from the store at once. What was read is in the index for good, should the rest fail. */
const BATCH = 256;

/** What an update is told beside the index and the store. */
export interface UpdateOptions {
  /** How a row is named in the index. A key holds a digest of the question: where the store is encrypted, another name. */
  readonly idOf?: (key: string) => string;
  /** Told how many rows are to be read, before they are. */
  readonly onRows?: (count: number) => void;
}

/**
 * Brings an index to what the ledger in the store is now. Only rows that are new, and those that were open when they
 * were last read, are read: a completed row never changes.
 */
export async function updateIndex(
  index: Database,
  store: Store,
  { idOf = (key) => key, onRows = () => undefined }: UpdateOptions = {},
): Promise<void> {
  const keys = new Map((await rowKeys(store)).map((key) => [idOf(key), key]));
  const known = new Map(idsIn(index).map(({ id, isOpen }) => [id, isOpen === 1]));

  const gone = [...known.keys()].filter((id) => !keys.has(id));
  if (gone.length > 0) removeRows(index, gone);

  const due = [...keys].filter(([id]) => known.get(id) ?? true);
  onRows(due.length);
  for (let begin = 0; begin < due.length; begin += BATCH) {
    const batch = due.slice(begin, begin + BATCH);
    const rows = await Promise.all(batch.map(async ([id, key]) => ({ id, row: await readRow(store, key) })));
    writeRows(index, rows);
  }
}

function idsIn(index: Database): { id: string; isOpen: 0 | 1 }[] {
  const select = index.prepare<[]>('SELECT id, ended_at IS NULL AS isOpen FROM request');
  return select.all() as { id: string; isOpen: 0 | 1 }[];
}

/** Rows are never removed from a ledger: this one's store was emptied, or its keys were changed. */
function removeRows(index: Database, ids: readonly string[]): void {
  index
    .prepare<[string]>('DELETE FROM request WHERE id IN (SELECT value FROM json_each(?))')
    .run(JSON.stringify(ids));
}

function writeRows(index: Database, rows: readonly { id: string; row: LedgerRow | null }[]): void {
  const write = index.prepare('INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const writeAll = index.transaction(() => {
    for (const { id, row } of rows) if (row !== null) write.run(id, ...columnsOf(row));
  });
  // Takes the right to write at once, so that two commands wait for each other instead of failing half-way.
  writeAll.immediate();
}

function columnsOf(row: LedgerRow): (string | number | null)[] {
  const { workflowId, rootId = workflowId, worker, model, startedAt, endedAt, usage, nanoUsd } = row;
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return [rootId, worker, model, startedAt, endedAt, inputTokens, outputTokens, nanoUsd];
}
