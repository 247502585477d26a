import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SqlLedger } from './sql-ledger';
import { explainSqlite, isTaken, type Query, SqliteConnection, type Value } from './sqlite-database';
import {
  checkKey,
  keysOf,
  type LedgerSums,
  PAGE,
  readPages,
  type SharedState,
  type SharedStates,
  type Store,
  type StoredEntry,
} from './store';

/**
 * A store in a SQLite database of this machine, which many processes may open at once.
 *
 * Each write is a transaction of its own, which is over when the disk has it.
 *
 * @throws Error, from each method, in one sentence: no access, a full disk, a damaged or newer database
 */
export class SqliteStore implements Store {
  readonly url: string;
  readonly ledger: LedgerSums = new SqlLedger({
    // Only the index is read, which holds some hundred bytes a row.
    rows: 'FROM entries INDEXED BY ledger WHERE is_row = 1 AND started_at >= ? AND started_at < ?',
    query: (sql, ...values) => this.look(sql, ...values),
    stream: (sql, ...values) => this.stream(sql, ...values),
  });
  /** For the processes of this machine, by its clock. */
  readonly rates: SharedStates = {
    read: async (name) => {
      // The time is told even where there is no row.
      const [found] = await this.ask((query) =>
        query<SharedState>(
          `SELECT state AS text, coalesce(version, 0) AS version, CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now
             FROM (SELECT 1) LEFT JOIN rates ON name = ?`,
          name,
        ),
      );
      if (found === undefined) throw new Error('SQLite gave no time');
      return found;
    },
    swap: (name, text, version) =>
      this.change(
        `INSERT INTO rates (name, version, state) VALUES (?, 1, ?)
           ON CONFLICT (name) DO UPDATE SET version = version + 1, state = excluded.state WHERE version = ?`,
        [name, text, version],
      ),
  };
  private readonly path: string;
  private opened: Promise<SqliteConnection> | undefined;

  constructor(path: string) {
    this.path = resolve(path);
    this.url = `sqlite:${path}`;
  }

  async read(key: string): Promise<Buffer | null> {
    checkKey(key);
    const [found] = await this.look<{ bytes: ArrayBuffer }>('SELECT bytes FROM entries WHERE key = ?', key);
    return found === undefined ? null : Buffer.from(found.bytes);
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    checkKey(key);
    const sql = `INSERT INTO entries (key, modified, bytes) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET modified = excluded.modified, bytes = excluded.bytes`;
    await this.ask((query) => query(sql, key, Date.now(), bytes));
  }

  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    checkKey(key);
    return this.ask(async (query) => {
      try {
        await query('INSERT INTO entries (key, modified, bytes) VALUES (?, ?, ?)', key, Date.now(), bytes);
        return true;
      } catch (error) {
        // Told by the refusal: asking how many entries were changed would be a second statement each time.
        if (isTaken(error)) return false;
        throw error;
      }
    });
  }

  async replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean> {
    checkKey(key);
    return this.change('UPDATE entries SET modified = ?, bytes = ? WHERE key = ? AND bytes = ?', [
      Date.now(),
      bytes,
      key,
      was,
    ]);
  }

  async stat(key: string): Promise<StoredEntry | null> {
    checkKey(key);
    const [found] = await this.look<Found>(`${FIND} WHERE key = ?`, key);
    return found === undefined ? null : entryOf(found);
  }

  list(prefix: string): Promise<string[]> {
    return keysOf(this.entries(prefix));
  }

  entries(prefix: string): AsyncGenerator<StoredEntry> {
    const sql = `${FIND} WHERE key > ? AND key < ? ORDER BY key LIMIT ${PAGE}`;
    return readPages(prefix, async (after, end) => (await this.look<Found>(sql, after, end)).map(entryOf));
  }

  async removeOlder(key: string, than: Date): Promise<number> {
    const entry = await this.stat(key);
    if (entry === null || entry.modifiedAt >= than) return 0;
    // Keeps what another process wrote since that look.
    const isGone = await this.change('DELETE FROM entries WHERE key = ? AND modified < ?', [
      key,
      than.getTime(),
    ]);
    return isGone ? entry.bytes : 0;
  }

  /** By removing what lies under no key: SQLite then does all that it does for a write, and changes nothing. */
  async check(): Promise<void> {
    await this.ask((query) => query("DELETE FROM entries WHERE key = ''"));
  }

  /** Lays everything into the one file, and lets go of it. */
  async close(): Promise<void> {
    const connection = await this.opened;
    this.opened = undefined;
    await connection?.close();
  }

  /** Where there is no database yet, nothing is found, and none is made. */
  private async look<Row>(sql: string, ...values: readonly Value[]): Promise<readonly Row[]> {
    if (this.opened === undefined && !existsSync(this.path)) return [];
    return this.ask((query) => query<Row>(sql, ...values));
  }

  private async *stream<Row>(sql: string, ...values: readonly Value[]): AsyncGenerator<Row> {
    if (this.opened === undefined && !existsSync(this.path)) return;
    try {
      yield* (await this.open()).stream<Row>(sql, ...values);
    } catch (error) {
      throw explainSqlite(error, this.url);
    }
  }

  /** @returns whether a row was changed */
  private change(sql: string, values: readonly Value[]): Promise<boolean> {
    return this.ask(async (query) => {
      await query(sql, ...values);
      const [found] = await query<{ count: number }>('SELECT changes() AS count');
      return found?.count === 1;
    });
  }

  private async ask<T>(work: (query: Query) => Promise<T>): Promise<T> {
    try {
      return await (await this.open()).inTurn(work);
    } catch (error) {
      throw explainSqlite(error, this.url);
    }
  }

  /** Where that failed, the next attempt may find things mended. */
  private async open(): Promise<SqliteConnection> {
    this.opened ??= SqliteConnection.open(this.path);
    try {
      return await this.opened;
    } catch (error) {
      this.opened = undefined;
      throw error;
    }
  }
}

/** The length of bytes is known without reading them. */
const FIND = 'SELECT key, length(bytes) AS bytes, modified FROM entries';

interface Found {
  readonly key: string;
  readonly bytes: number;
  readonly modified: number;
}

function entryOf({ key, bytes, modified }: Found): StoredEntry {
  return { key, bytes, modifiedAt: new Date(modified) };
}
