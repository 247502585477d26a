import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type Database from 'libsql/promise';
import { explain, factsOf, type Rule } from '../explain';
import { makeOwnFolder } from '../own-folder';

/** The shape of the tables. One that is greater was made by a newer version of this package. */
const SCHEMA_VERSION = 1;

/** Tells our databases from those of other programs: "TCS1". */
const APPLICATION_ID = 0x54435331;

/**
 * All entries lie in one table. SQLite itself takes what `cost` sums out of the rows of the ledger as they are written,
 * into an index that alone is read (columns that are not stored would not be read from there). A row that is no JSON
 * counts as open.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,
    -- Milliseconds since 1970.
    modified INTEGER NOT NULL,
    is_row INTEGER AS (key >= 'ledger/' AND key < 'ledger0') STORED,
    row TEXT AS (iif(is_row, iif(json_valid(CAST(bytes AS TEXT)), CAST(bytes AS TEXT), '{}'), NULL)),
    started_at TEXT AS (iif(is_row, coalesce(
      json_extract(row, '$.startedAt'), strftime('%Y-%m-%dT%H:%M:%fZ', modified / 1000.0, 'unixepoch')), NULL)) STORED,
    worker TEXT AS (iif(is_row, coalesce(json_extract(row, '$.worker'), 'unknown'), NULL)) STORED,
    root_id TEXT AS (iif(is_row, coalesce(json_extract(row, '$.rootId'), 'unknown'), NULL)) STORED,
    model TEXT AS (iif(is_row, coalesce(json_extract(row, '$.model'), 'unknown'), NULL)) STORED,
    is_open INTEGER AS (iif(is_row, json_extract(row, '$.endedAt') IS NULL, NULL)) STORED,
    nano_usd INTEGER AS (json_extract(row, '$.nanoUsd')) STORED,
    input_tokens INTEGER AS (json_extract(row, '$.usage.inputTokens')) STORED,
    output_tokens INTEGER AS (json_extract(row, '$.usage.outputTokens')) STORED,
    saved_nano_usd INTEGER AS (json_extract(row, '$.savedNanoUsd')) STORED,
    bytes BLOB NOT NULL
  );
  CREATE INDEX IF NOT EXISTS ledger
    ON entries (is_row, started_at, is_open, nano_usd, saved_nano_usd, input_tokens, output_tokens, worker, root_id, model)
    WHERE is_row = 1;
  -- Rates of each model, which worker processes share.
  CREATE TABLE IF NOT EXISTS rates (name TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL);
`;

/** Another process writes for some milliseconds; one that is longer away than this is stopped, or its disk is. */
const BUSY_MS = 30_000;

/** Values that a statement takes and gives; bytes come back as another type. */
export type Value = string | number | Uint8Array;

interface Statement {
  all(...values: readonly Value[]): Promise<unknown[]>;
  /** Takes a hundred rows at a time out of SQLite. */
  iterate(...values: readonly Value[]): Promise<Iterable<unknown>>;
}

/** Runs one statement, and returns its rows. */
export type Query = <Row>(sql: string, ...values: readonly Value[]) => Promise<readonly Row[]>;

/**
 * A connection to a SQLite database. Statements run off the event loop, one after another.
 *
 * The driver looks asynchronous and is so in part: `run` and `get` of its statements block the process for as long as
 * SQLite takes or waits for its lock, `all` runs the statement up to its first row elsewhere.
 */
export class SqliteConnection {
  private readonly statements = new Map<string, Promise<Statement>>();
  private last: Promise<unknown> = Promise.resolve();

  private constructor(private readonly database: Database) {}

  /** Where there is no database yet, it is made, for its owner alone. */
  static async open(path: string): Promise<SqliteConnection> {
    if (!existsSync(path)) {
      makeOwnFolder(dirname(path));
      // SQLite gives the files that it lays beside this one the same rights.
      await (await open(path, 'a', 0o600)).close();
    }
    const { default: Libsql } = await import('libsql/promise');
    const connection = new SqliteConnection(new Libsql(path, { timeout: BUSY_MS }));
    await connection.inTurn((query) => connection.prepare(query));
    return connection;
  }

  /** Does something with the connection while nothing else does. */
  inTurn<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const turn = this.last.then(() => work(this.query));
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Runs one statement and gives its rows as they are taken; nothing else is done with the connection meanwhile. */
  async *stream<Row>(sql: string, ...values: readonly Value[]): AsyncGenerator<Row> {
    let end = (): void => undefined;
    const isOver = new Promise<void>((resolve) => (end = resolve));
    const before = this.last;
    this.last = before.then(() => isOver);
    try {
      await before;
      const statement = (await this.database.prepare(sql)) as Statement;
      yield* (await statement.iterate(...values)) as Iterable<Row>;
    } finally {
      end();
    }
  }

  async close(): Promise<void> {
    await this.inTurn((query) => query('PRAGMA wal_checkpoint(TRUNCATE)'));
    this.database.close();
  }

  private readonly query: Query = async <Row>(sql: string, ...values: readonly Value[]) => {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql) as Promise<Statement>;
      this.statements.set(sql, statement);
    }
    return (await (await statement).all(...values)) as Row[];
  };

  private async prepare(query: Query): Promise<void> {
    const numberOf = async (sql: string): Promise<number> => {
      const [row = {}] = await query<Record<string, number>>(sql);
      return Object.values(row)[0] ?? 0;
    };
    const version = await numberOf('PRAGMA user_version');
    if (version > SCHEMA_VERSION) {
      const reason = `its tables are of version ${version}, and this program knows ${SCHEMA_VERSION}`;
      throw Object.assign(new Error(reason), { code: 'NEWER' });
    }
    const tables = await numberOf('SELECT count(*) FROM sqlite_schema');
    if (tables > 0 && (await numberOf('PRAGMA application_id')) !== APPLICATION_ID) {
      throw Object.assign(new Error('its tables are others'), { code: 'FOREIGN' });
    }
    if (version < SCHEMA_VERSION) await this.create();
    // A commit waits until the disk has the log; macOS has to be asked to empty the disk's own cache, too.
    await this.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    // After a long text, the log is cut to this again.
    await this.exec('PRAGMA journal_size_limit = 16777216');
  }

  /** Others may do the same at this moment: whoever comes second finds it done. */
  private async create(): Promise<void> {
    await whileLocked(() => this.exec('PRAGMA journal_mode = WAL'));
    await this.exec('BEGIN IMMEDIATE');
    try {
      await this.exec(SCHEMA);
      await this.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
      await this.exec('COMMIT');
    } catch (error) {
      await this.exec('ROLLBACK');
      throw error;
    }
  }

  private async exec(sql: string): Promise<void> {
    await (this.database.exec(sql) as Promise<void>);
  }
}

/** SQLite waits by itself, save where it would wait for itself: two connections that change the kind of a log. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const until = Date.now() + BUSY_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!factsOf(error).code.startsWith('SQLITE_BUSY') || Date.now() > until) throw error;
      await pause(20);
    }
  }
}

/** Codes: https://sqlite.org/rescode.html, and those of the system. */
const RULES: readonly Rule[] = [
  [
    /^NEWER/,
    (store, { reason }) => `${store} was made by a newer version of temporal-conductor (${reason}): update`,
  ],
  [/^FOREIGN/, (store) => `${store} is a database of another program: name another file in "store"`],
  [
    /^SQLITE_(?:BUSY|LOCKED)/,
    (store) =>
      `${store} is locked: another process has been writing for more than ${BUSY_MS / 1000} s; look for one that hangs, and end it`,
  ],
  [
    /^(?:SQLITE_FULL|ENOSPC|EDQUOT)/,
    (store) => `the disk of ${store} is full: make room, or name a store on another disk`,
  ],
  [
    /^SQLITE_(?:NOTADB|CORRUPT)/,
    (store, { code }) =>
      `${store} is damaged, or no SQLite database (${code}): put back a copy, or name another file in "store"`,
  ],
  [
    // The driver gives SQLite's code for a database that cannot even be opened in its message alone.
    /^(?:SQLITE_(?:READONLY|CANTOPEN|PERM|AUTH)|EACCES|EPERM|EROFS|ENOTDIR|EISDIR|EEXIST)|: 14\W*$/,
    (store, { code }) =>
      `${store} cannot be opened or written (${code === 'Error' ? 'SQLITE_CANTOPEN' : code}): it must be a file that this user may write, in a folder that they may write; ` +
      'change the rights, or "store" in the configuration',
  ],
];

/** An error of SQLite or of its file in one sentence: what happened, to which database, what to do. */
export function explainSqlite(error: unknown, store: string): Error {
  return explain(error, RULES, store);
}

/** Whether a row was refused because there is one of its key. */
export function isTaken(error: unknown): boolean {
  return factsOf(error).code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
