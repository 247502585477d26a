import { migratePostgres, PostgresDatabase, type PostgresPlace, type Query } from './postgres-database';
import { SqlLedger } from './sql-ledger';
import {
  checkKey,
  keysOf,
  type LedgerSums,
  type Migration,
  PAGE,
  readPages,
  type SharedState,
  type SharedStates,
  type Store,
  type StoredEntry,
} from './store';

/**
 * A store in a PostgreSQL database, for workers on several machines. Each write is a transaction of its own: what was
 * confirmed is there after a loss of power, where the server's own `fsync` and `synchronous_commit` are on.
 *
 * @throws Error, from each method, in one sentence: no way to the server, no rights, a full disk, another schema
 */
export class PostgresStore implements Store {
  readonly url: string;
  readonly ledger: LedgerSums;
  /** By the clock of the server. */
  readonly rates: SharedStates = {
    read: async (name) => {
      // The time is told even where there is no row.
      const { rows } = await this.query<SharedState>(
        `SELECT state AS text, coalesce(version, 0)::float8 AS version,
             floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
           FROM (VALUES (1)) AS one LEFT JOIN $schema.rates ON name = $1`,
        name,
      );
      const [found] = rows;
      if (found === undefined) throw new Error('PostgreSQL gave no time');
      return found;
    },
    swap: async (name, text, version) => {
      const { rowCount } = await this.query(
        `INSERT INTO $schema.rates AS was (name, version, state) VALUES ($1, 1, $2)
           ON CONFLICT (name) DO UPDATE SET version = was.version + 1, state = excluded.state
             WHERE was.version = $3::bigint`,
        name,
        text,
        String(version),
      );
      return rowCount === 1;
    },
  };
  private readonly query: Query;
  private readonly database: PostgresDatabase;

  constructor(private readonly place: PostgresPlace) {
    this.url = place.url;
    this.database = PostgresDatabase.at(place);
    const { query, stream } = this.database;
    this.query = query;
    this.ledger = new SqlLedger({
      rows: 'FROM $schema.entries WHERE started_at >= $1 AND started_at < $2',
      query: async <Row>(sql: string, ...values: readonly string[]) =>
        (await query<Row>(sql, ...values)).rows,
      stream,
    });
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
