import { keysOf, PAGE, readPages } from './key-pages';
import type { LedgerSums } from './ledger-sums';
import { migratePostgres, PostgresDatabase, type PostgresPlace, type Query } from './postgres-database';
import { PostgresLedger } from './postgres-ledger';
import { PostgresStates } from './postgres-states';
import type { SharedStates } from './shared-states';
import { checkKey, type Migration, type Store, type StoredEntry } from './store';

/**
 * A store in a PostgreSQL database, for workers on several machines. Each write is a transaction of its own: what was
 * confirmed is there after a loss of power, where the server's own `fsync` and `synchronous_commit` are on.
 *
 * @throws Error, from each method, in one sentence: no way to the server, no rights, a full disk, another schema
 */
export class PostgresStore implements Store {
  readonly url: string;
  readonly ledger: LedgerSums;
  readonly rates: SharedStates;
  private readonly query: Query;
  private readonly database: PostgresDatabase;

  constructor(private readonly place: PostgresPlace) {
    this.url = place.url;
    this.database = PostgresDatabase.at(place);
    const { database } = this;
    this.query = database.query;
    this.ledger = new PostgresLedger(database.query, database.stream);
    this.rates = new PostgresStates(this.query);
  }

  async read(key: string): Promise<Buffer | null> {
    checkKey(key);
    const { rows } = await this.query<{ bytes: Buffer }>(
      'SELECT bytes FROM $schema.entries WHERE key = $1',
      key,
    );
    return rows[0]?.bytes ?? null;
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    checkKey(key);
    const onConflict = 'DO UPDATE SET modified = excluded.modified, bytes = excluded.bytes';
    await this.query(`${INSERT} ON CONFLICT (key) ${onConflict}`, key, bytes);
  }

  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    checkKey(key);
    const { rowCount } = await this.query(`${INSERT} ON CONFLICT (key) DO NOTHING`, key, bytes);
    return rowCount === 1;
  }

  async replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean> {
    checkKey(key);
    const { rowCount } = await this.query(
      'UPDATE $schema.entries SET modified = clock_timestamp(), bytes = $2 WHERE key = $1 AND bytes = $3',
      key,
      bytes,
      was,
    );
    return rowCount === 1;
  }

  async stat(key: string): Promise<StoredEntry | null> {
    checkKey(key);
    const { rows } = await this.query<StoredEntry>(`${FIND} WHERE key = $1`, key);
    return rows[0] ?? null;
  }

  list(prefix: string): Promise<string[]> {
    return keysOf(this.entries(prefix));
  }

  entries(prefix: string): AsyncGenerator<StoredEntry> {
    const sql = `${FIND} WHERE key > $1 AND key < $2 ORDER BY key LIMIT ${PAGE}`;
    return readPages(prefix, async (after, end) => (await this.query<StoredEntry>(sql, after, end)).rows);
  }

  async removeOlder(key: string, than: Date): Promise<number> {
    checkKey(key);
    const { rows } = await this.query<{ bytes: number }>(
      'DELETE FROM $schema.entries WHERE key = $1 AND modified < $2 RETURNING length(bytes) AS bytes',
      key,
      than,
    );
    return rows[0]?.bytes ?? 0;
  }

  check(): Promise<void> {
    return this.database.checkRights();
  }

  migrate(): Promise<Migration> {
    return migratePostgres(this.place);
  }
}

const INSERT = 'INSERT INTO $schema.entries (key, modified, bytes) VALUES ($1, clock_timestamp(), $2)';

/** The length of bytes is known without reading them. */
const FIND = 'SELECT key, length(bytes) AS bytes, modified AS "modifiedAt" FROM $schema.entries';
