import {
  migratePostgres,
  PostgresDatabase,
  type PostgresPlace,
  type Query,
  type Stream,
} from './postgres-database';
import {
  checkKey,
  type CostLine,
  type Day,
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
    const { database } = this;
    this.query = database.query;
    this.ledger = new PostgresLedger(database.query, database.stream);
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

const COLUMNS = { worker: 'worker', rootId: 'root_id', model: 'model' };

/** Sums as JavaScript numbers, exact up to 2⁵³. */
const SUMS = `count(*)::float8 AS calls, count(*) FILTER (WHERE is_open)::float8 AS open,
  (count(*) - count(nano_usd))::float8 AS unknown, coalesce(sum(input_tokens), 0)::float8 AS "inputTokens",
  coalesce(sum(output_tokens), 0)::float8 AS "outputTokens", coalesce(sum(nano_usd), 0)::float8 AS "nanoUsd",
  coalesce(sum(saved_nano_usd), 0)::float8 AS "savedNanoUsd"`;

/** The ledger of a PostgreSQL store. */
class PostgresLedger implements LedgerSums {
  constructor(
    private readonly query: Query,
    private readonly stream: Stream,
  ) {}

  sumBy(by: keyof typeof COLUMNS, from: string, until: string): AsyncIterable<CostLine> {
    return this.stream<CostLine>(
      `SELECT ${COLUMNS[by]} AS name, ${SUMS} FROM $schema.entries
         WHERE started_at >= $1 AND started_at < $2 GROUP BY 1 ORDER BY "nanoUsd" DESC, name`,
      from,
      until,
    );
  }

  /** One query, which looks into the index once for each day: to tell the day of each row would take four times as long. */
  async sumDays(days: readonly Day[]): Promise<readonly CostLine[]> {
    const { rows } = await this.query<CostLine>(
      `SELECT day.name, sums.* FROM
           json_to_recordset($1::json) AS day (name text, begins text, ends text),
           LATERAL (SELECT ${SUMS} FROM $schema.entries
             WHERE started_at >= day.begins COLLATE "C" AND started_at < day.ends COLLATE "C") AS sums
         WHERE sums.calls > 0`,
      JSON.stringify(days),
    );
    return rows;
  }

  async span(from: string, until: string): Promise<{ first: string; last: string } | null> {
    const { rows } = await this.query<{ first: string | null; last: string | null }>(
      `SELECT min(started_at) AS first, max(started_at) AS last FROM $schema.entries
         WHERE started_at >= $1 AND started_at < $2`,
      from,
      until,
    );
    const { first = null, last = null } = rows[0] ?? {};
    return first === null || last === null ? null : { first, last };
  }
}
