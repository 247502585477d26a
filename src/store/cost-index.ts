import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Database } from 'libsql';
import { type LedgerRow, readRow, rowKeys } from './ledger';
import type { Store } from './store';

/** Raised whenever the table changes: an index of another version is made anew. */
const VERSION = 1;

/** A row each request to a model. Names and numbers only: no question, answer or error message is in it. */
const TABLE = `
  DROP TABLE IF EXISTS request;
  CREATE TABLE request (
    id TEXT PRIMARY KEY,
    root_id TEXT NOT NULL,
    worker TEXT NOT NULL,
    model TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    nano_usd INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX request_by_start ON request (started_at);
  PRAGMA user_version = ${VERSION};
`;

/** How long another command that writes to the index is waited for, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Runs `work` on the index of a store's ledger: a SQLite file in `folder`, one for each store. It is a cache: made
 * where there is none, and made anew where it is of another version or no database at all. The rows in the store are
 * the truth, which `updateIndex` brings in.
 *
 * @throws Error where this platform has no build of SQLite, or the folder cannot be written
 */
export async function withLedgerIndex<T>(
  store: Pick<Store, 'url'>,
  folder: string,
  work: (index: Database) => Promise<T>,
): Promise<T> {
  const digest = createHash('sha256').update(store.url).digest('hex');
  const index = await openIndex(join(folder, `ledger-${digest.slice(0, 12)}.sqlite`));
  try {
    return await work(index);
  } finally {
    index.close();
  }
}

async function openIndex(path: string): Promise<Database> {
  await mkdir(dirname(path), { recursive: true });
  const open = await loadSqlite();
  try {
    return withTable(open(path));
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
    if (code !== 'SQLITE_NOTADB' && code !== 'SQLITE_CORRUPT') throw error;
  }
  for (const file of [path, `${path}-journal`]) await rm(file, { force: true });
  return withTable(open(path));
}

/** Looks and makes in one transaction: another command may be about to do the same. */
function withTable(index: Database): Database {
  const make = index.transaction(() => {
    if (!isCurrent(index)) index.exec(TABLE);
  });
  try {
    make.immediate();
    return index;
  } catch (error) {
    index.close();
    throw error;
  }
}

/** Loaded on first use: a native library, which no other command needs. */
async function loadSqlite(): Promise<(path: string) => Database> {
  try {
    const { default: Libsql } = await import('libsql');
    return (path) => new Libsql(path, { timeout: PATIENCE });
  } catch (error) {
    throw new Error(
      `SQLite (the package libsql) cannot be loaded on ${process.platform}-${process.arch}; install this package again ` +
        'without --omit=optional, on a platform that libsql has a build for',
      { cause: error },
    );
  }
}

function isCurrent(index: Database): boolean {
  const [found] = index.prepare<[]>('SELECT user_version AS version FROM pragma_user_version').all();
  return typeof found === 'object' && found !== null && 'version' in found && found.version === VERSION;
}

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
