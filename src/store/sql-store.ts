import { errorFactsOf } from '../errors';
import { idIn } from './store-id';
import {
  checkStoreKey,
  type CostGroup,
  type CostLine,
  type Entries,
  keysOf,
  type SharedState,
  type SharedStates,
  type Store,
  type StoredEntry,
} from './store';

export type Value = string | number | Uint8Array;

/** Runs one statement with parameters `$1`, `$2` … and returns its rows. */
export type Query = <Row>(sql: string, ...values: readonly Value[]) => Promise<readonly Row[]>;

/** Parts in which the statements of SQLite and PostgreSQL differ. */
export interface Dialect {
  readonly schema: string;
  /** Expression for the current time by the database's own clock, as it is stored. */
  readonly now: string;
  readonly millisecondsOf: (time: string) => string;
  readonly timeOf: (milliseconds: string) => string;
  /** Clock of the machine, if all processes of a database run on one. */
  readonly machineClock?: () => Pick<SharedState, 'now' | 'clock'>;
  /** `FROM` and `WHERE` of the ledger's rows from the instant `$1` until before `$2`. */
  readonly rows: string;
}

/** Start time cut to the quarter of an hour: the days of every time zone consist of whole quarters. */
const QUARTER =
  "substr(started_at, 1, 14) || substr('00153045', 1 + CAST(substr(started_at, 15, 2) AS integer) / 15 * 2, 2) || 'Z'";

/** Groups of rows by what the tables know of them; those of tools are few, and are read. */
type SummedGroup = Exclude<CostGroup, 'tool'>;

const GROUPED_BY: Readonly<Record<SummedGroup, string>> = {
  day: QUARTER,
  'day-worker': `${QUARTER} || ' ' || worker`,
  worker: 'worker',
  workflow: 'root_id',
  key: 'root_id',
  model: 'model',
};

const SUMS = Object.entries({
  calls: 'count(*)',
  open: 'count(*) FILTER (WHERE is_open)',
  unknown: 'count(*) - count(nano_usd)',
  inputTokens: 'coalesce(sum(input_tokens), 0)',
  outputTokens: 'coalesce(sum(output_tokens), 0)',
  nanoUsd: 'coalesce(sum(nano_usd), 0)',
  savedNanoUsd: 'coalesce(sum(saved_nano_usd), 0)',
})
  // Doubles become JavaScript numbers, exact up to 2⁵³; PostgreSQL's driver returns larger integers as strings.
  .map(([name, sum]) => `CAST(${sum} AS float8) AS "${name}"`)
  .join(', ');

const PAGE = 1000;

const OVERWRITTEN = 'modified = excluded.modified, bytes';
/** Codes of SQLite and of PostgreSQL for NULL where a value belongs. */
const NULL_REFUSED: ReadonlySet<string> = new Set(['SQLITE_CONSTRAINT_NOTNULL', '23502']);

interface FoundEntry {
  readonly key: string;
  readonly bytes: number;
  readonly modified: number;
}

/** Store in a database. All entries are in one table; the database itself fills in the columns that `cost` sums. */
export abstract class SqlStore implements Store {
  abstract readonly url: string;
  protected abstract readonly query: Query;
  /** Runs a statement that changes at most one row, and returns whether it did. */
  protected abstract readonly changes: (sql: string, ...values: readonly Value[]) => Promise<boolean>;
  /** Whether the database exists: a read must not create one. */
  protected abstract isThere(): boolean;
  private readonly find: string;

  protected constructor(private readonly dialect: Dialect) {
    const { schema, millisecondsOf } = dialect;
    // The length is known without reading the bytes.
    this.find = `SELECT key, length(bytes) AS bytes, ${millisecondsOf('modified')} AS modified FROM ${schema}entries`;
  }

  async read(key: string): Promise<Buffer | null> {
    checkStoreKey(key);
    const sql = `SELECT bytes FROM ${this.dialect.schema}entries WHERE key = $1`;
    const [found] = await this.look<{ bytes: Buffer | ArrayBuffer }>(sql, key);
    if (found === undefined) return null;
    return Buffer.isBuffer(found.bytes) ? found.bytes : Buffer.from(found.bytes);
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    await this.query(...this.insertion([[key, bytes]], `UPDATE SET ${OVERWRITTEN} = excluded.bytes`));
  }

  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    return this.changes(...this.insertion([[key, bytes]], 'NOTHING'));
  }

  async createWith(key: string, bytes: Uint8Array, others: Entries): Promise<boolean> {
    // NULL, which no entry may hold, undoes the whole statement.
    const unlessFirst = `UPDATE SET ${OVERWRITTEN} = CASE excluded.key WHEN $1 THEN NULL ELSE excluded.bytes END`;
    try {
      await this.query(...this.insertion([[key, bytes], ...others], unlessFirst));
      return true;
    } catch (error) {
      const { cause } = Object(error) as { readonly cause?: unknown };
      if (NULL_REFUSED.has(errorFactsOf(cause).code)) return false;
      throw error;
    }
  }

  async append(entries: Entries): Promise<void> {
    if (entries.length > 0) await this.query(...this.insertion(entries, 'NOTHING'));
  }

  /** Returns one statement, and so one commit, with its values. @param conflict what it does about a key that is there */
  private insertion(entries: Entries, conflict: string): [sql: string, ...values: Value[]] {
    for (const [key] of entries) checkStoreKey(key);
    const { schema, now } = this.dialect;
    const rows = entries.map((_, index) => `($${2 * index + 1}, ${now}, $${2 * index + 2})`).join(', ');
    const sql = `INSERT INTO ${schema}entries (key, modified, bytes) VALUES ${rows} ON CONFLICT (key) DO ${conflict}`;
    return [sql, ...entries.flatMap((entry): readonly Value[] => entry)];
  }

  async replace(key: string, bytes: Uint8Array, was: Uint8Array): Promise<boolean> {
    checkStoreKey(key);
    const { schema, now } = this.dialect;
    const sql = `UPDATE ${schema}entries SET modified = ${now}, bytes = $2 WHERE key = $1 AND bytes = $3`;
    return this.changes(sql, key, bytes, was);
  }

  async stat(key: string): Promise<StoredEntry | null> {
    checkStoreKey(key);
    const [found] = await this.look<FoundEntry>(`${this.find} WHERE key = $1`, key);
    return found === undefined ? null : entryOf(found);
  }

  list(prefix: string): Promise<string[]> {
    return keysOf(this.entries(prefix));
  }

  /** Yields entries in ascending order, page by page. No lock or connection is held between pages. */
  async *entries(prefix: string): AsyncGenerator<StoredEntry> {
    if (prefix !== '') checkStoreKey(prefix.replace(/\/$/, ''));
    // No key ends with a slash, and "0" is the character after it. Every character of a key sorts before "~".
    const end = prefix === '' ? '~' : prefix.replace(/\/$/, '0');
    const sql = `${this.find} WHERE key > $1 AND key < $2 ORDER BY key LIMIT ${PAGE}`;
    let page: readonly FoundEntry[];
    let after = prefix;
    do {
      page = await this.look<FoundEntry>(sql, after, end);
      yield* page.map(entryOf);
      after = page.at(-1)?.key ?? end;
    } while (page.length === PAGE);
  }

  async removeOlder(key: string, than: Date): Promise<number> {
    checkStoreKey(key);
    const { schema, timeOf } = this.dialect;
    const sql = `DELETE FROM ${schema}entries WHERE key = $1 AND modified < ${timeOf('$2')} RETURNING length(bytes) AS bytes`;
    const [gone] = await this.look<{ bytes: number }>(sql, key, than.getTime());
    return gone?.bytes ?? 0;
  }

  /** Takes ISO 8601 times in UTC; `from` is inclusive, `until` exclusive. */
  async sums(by: SummedGroup, from: string, until: string): Promise<readonly CostLine[]> {
    return this.look(
      `SELECT ${GROUPED_BY[by]} AS name, ${SUMS} ${this.dialect.rows} GROUP BY 1`,
      from,
      until,
    );
  }

  id(how: 'read' | 'make'): Promise<string | null> {
    return idIn(this, how);
  }

  readonly rates: SharedStates = {
    read: async (name) => {
      const { schema, now, millisecondsOf, machineClock } = this.dialect;
      const time = machineClock?.();
      // The left join returns the time even if there is no state.
      const [found] = await this.query<Omit<SharedState, 'clock'>>(
        `SELECT state AS text, CAST(coalesce(version, 0) AS float8) AS version, ${millisecondsOf(now)} AS now
           FROM (SELECT 1) AS one LEFT JOIN ${schema}rates ON name = $1`,
        name,
      );
      if (found === undefined)
        throw new Error(`${this.url} did not tell its time: check that it is no proxy`);
      return { ...found, clock: 'database', ...time };
    },
    swap: (name, text, version) =>
      this.changes(
        `INSERT INTO ${this.dialect.schema}rates AS was (name, version, state) VALUES ($1, 1, $2)
           ON CONFLICT (name) DO UPDATE SET version = was.version + 1, state = excluded.state
             WHERE was.version = $3`,
        name,
        text,
        version,
      ),
  };

  private async look<Row>(sql: string, ...values: readonly Value[]): Promise<readonly Row[]> {
    return this.isThere() ? this.query<Row>(sql, ...values) : [];
  }
}

function entryOf({ key, bytes, modified }: FoundEntry): StoredEntry {
  return { key, bytes, modifiedAt: new Date(modified) };
}

/** Returns an error whose message continues the sentence after the store's URL. */
export function refusal(sentence: string): Error {
  return Object.assign(new Error(sentence), { code: 'REFUSED' });
}
