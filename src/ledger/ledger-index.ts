import { mkdir, rm } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Database } from 'libsql';
import type { Store } from '../store/store';

/** Raised whenever the table changes: an index of another version is made anew. */
const VERSION = 1;

/** A row each request to a model. Names and numbers only: no question, answer or error message is in it. */
const TABLE = `
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
    const index = open(path);
    if (isCurrent(index)) return index;
    index.close();
  } catch (error) {
    if (codeOf(error) !== 'SQLITE_NOTADB' && codeOf(error) !== 'SQLITE_CORRUPT') throw error;
  }
  for (const file of [path, `${path}-wal`, `${path}-shm`]) await rm(file, { force: true });
  const index = open(path);
  index.exec(`PRAGMA journal_mode = WAL; ${TABLE}`);
  return index;
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

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
