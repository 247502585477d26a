import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type Database from 'libsql/promise';
import { explain, errorFactsOf, type ErrorRule } from '../errors';
import { makeOwnFolder } from '../runtime/own-folder';
import { Turns } from '../runtime/turns';
import { type Query, refusal, SqlStore, type Value } from './sql-store';
import { LostStoreError } from './store';

const SCHEMA_VERSION = 1;

/** Marks our databases, to tell them from those of other programs: "TCS1". */
const APPLICATION_ID = 0x54435331;

/**
 * SQLite extracts what `cost` sums from the ledger's rows as they are written, into an index that a sum reads alone.
 * The columns are STORED, since virtual ones would not be read from the index. A row that is not JSON counts as open.
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

const CLOCK = nameClock();

/** Names the monotonic clock of this process: all share the one of a boot, except those in time namespaces. */
function nameClock(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const link = '/proc/self/ns/time';
    return existsSync(link) ? `${boot} ${readlinkSync(link)}` : boot;
  } catch {
    // Without a name for the boot, no other process's times can be compared.
    return randomUUID();
  }
}

/** Timeout for the database lock. Writes take milliseconds; a longer lock means a stopped process or a stuck disk. */
const BUSY_MS = 30_000;

/**
 * Store in a SQLite database of this machine, which many processes may open at once. A write returns once it is on
 * disk. Each method throws an Error in one sentence: no access, or a damaged or newer database.
 */
export class SqliteStore extends SqlStore {
  readonly url: string;
  private readonly path: string;
  private opened: Promise<Connection> | undefined;

  constructor(path: string) {
    super({
      schema: '',
      now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
      millisecondsOf: (time) => time,
      timeOf: (milliseconds) => milliseconds,
      machineClock: () => ({ now: Number(process.hrtime.bigint() / 1_000_000n), clock: CLOCK }),
      // Reads only the index, which holds some hundred bytes per row.
      rows: 'FROM entries INDEXED BY ledger WHERE is_row = 1 AND started_at >= $1 AND started_at < $2',
    });
    this.path = resolve(path);
    this.url = `sqlite:${path}`;
  }

  /** Removes an entry that cannot exist: SQLite then takes every step of a write and changes nothing. */
  async check(): Promise<void> {
    await this.query("DELETE FROM entries WHERE key = ''");
  }

  protected isThere(): boolean {
    return this.opened !== undefined || existsSync(this.path);
  }

  /** Detects an existing key by a constraint, since `changes` takes another statement. */
  override create(key: string, bytes: Uint8Array): Promise<boolean> {
    return this.createWith(key, bytes, []);
  }

  protected readonly query: Query = (sql, ...values) => this.inTurn((query) => query(sql, ...values));

  /** Asks for the count afterwards: a statement that returns rows would commit on the event loop. */
  protected readonly changes = (sql: string, ...values: readonly Value[]): Promise<boolean> =>
    this.inTurn(async (query) => {
      await query(sql, ...values);
      const [found] = await query<{ count: number }>('SELECT changes() AS count');
      return found?.count === 1;
    });

  private async inTurn<T>(work: (query: Query) => Promise<T>): Promise<T> {
    try {
      const connection = await this.open();
      return await connection(work);
    } catch (error) {
      const explained = explain(error, RULES, this.url);
      throw LOST.test(errorFactsOf(error).code)
        ? new LostStoreError(explained.message, { cause: error })
        : explained;
    }
  }

  private open(): Promise<Connection> {
    if (this.opened === undefined) {
      this.opened = openDatabase(this.path);
      // The next call tries again, since the cause may be fixed by then.
      this.opened.catch(() => (this.opened = undefined));
    }
    return this.opened;
  }
}

/** Runs work on a database while no other work on this connection runs. */
type Connection = <T>(work: (query: Query) => Promise<T>) => Promise<T>;

/**
 * Opens a database, or creates one for its owner alone. Statements run one after another, off the event loop as far as
 * the driver can: its `run` and `get` block the process while SQLite works or waits for its lock, and `all` does so
 * from the first row on, commit included.
 */
export async function openDatabase(path: string): Promise<Connection> {
  if (!existsSync(path)) {
    makeOwnFolder(dirname(path));
    // SQLite gives the files that it creates beside this one the same permissions.
    await (await open(path, 'a', 0o600)).close();
  }
  const { default: Libsql } = await import('libsql/promise');
  const database = new Libsql(path, { timeout: BUSY_MS });
  const statements = new Map<string, Promise<{ all(...values: readonly Value[]): Promise<unknown[]> }>>();
  const query = async <Row>(sql: string, ...values: readonly Value[]): Promise<Row[]> => {
    const statement = statements.get(sql) ?? (database.prepare(sql.replaceAll('$', '?')) as never);
    statements.set(sql, statement);
    return (await (await statement).all(...values)) as Row[];
  };
  try {
    await prepare(database, query);
    const file = fileAt(path);
    const checkFile = (): void => {
      if (file === null || fileAt(path) !== file)
        throw Object.assign(new Error('replaced'), { code: REPLACED });
    };
    const turns = new Turns(1);
    return (work) =>
      turns.take(async () => {
        // Before, since a write would go to the log beside the file, which belongs to the new file now. Afterwards,
        // so that nothing counts as kept that no other process will find. Each look takes microseconds.
        checkFile();
        const done = await work(query);
        checkFile();
        return done;
      });
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Identifies the file under a path; null if there is none. */
function fileAt(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

async function prepare(database: Database, query: Query): Promise<void> {
  const numberOf = async (sql: string): Promise<number> => {
    const [row = {}] = await query<Record<string, number>>(sql);
    return Object.values(row)[0] ?? 0;
  };
  const version = await numberOf('PRAGMA user_version');
  if (version > SCHEMA_VERSION) {
    const reason = `its tables have version ${version}, but this program knows ${SCHEMA_VERSION}`;
    throw refusal(`was made by a newer version of temporal-conductor (${reason}): update`);
  }
  const tables = await numberOf('SELECT count(*) FROM sqlite_schema');
  if (tables > 0 && (await numberOf('PRAGMA application_id')) !== APPLICATION_ID) {
    throw refusal('is the database of another program: set another file in "store"');
  }
  if (version < SCHEMA_VERSION) {
    await whileLocked(() => database.exec('PRAGMA journal_mode = WAL'));
    // Other processes may do the same at this moment; the later one finds it done.
    await database.exec(`BEGIN IMMEDIATE; ${SCHEMA}
      PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  }
  // A commit waits until the log is on disk; macOS must also be told to flush the disk's own cache.
  await database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
  await database.exec('PRAGMA journal_size_limit = 16777216');
}

/** Retries in the one case in which SQLite does not wait by itself: two connections change the journal mode. */
async function whileLocked(work: () => unknown): Promise<void> {
  const until = Date.now() + BUSY_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!errorFactsOf(error).code.startsWith('SQLITE_BUSY') || Date.now() > until) throw error;
      await pause(20);
    }
  }
}

const REPLACED = 'REPLACED';

/** Codes after which a retry by this process would meet the same error. */
const LOST = new RegExp(`^(?:${REPLACED}|SQLITE_NOTADB|SQLITE_CORRUPT)`);

/** Codes: https://sqlite.org/rescode.html, and those of the system. */
const RULES: readonly ErrorRule[] = [
  [/^REFUSED/, (store, { reason }) => `${store} ${reason}`],
  [
    new RegExp(`^${REPLACED}`),
    (store) =>
      `the file of ${store} was deleted or replaced while this process used it, and what it writes is lost: restart ` +
      'this process, and stop all others of the store before you replace its file',
  ],
  [
    /^SQLITE_(?:BUSY|LOCKED)/,
    (store) =>
      `${store} has been locked by another process for ${BUSY_MS / 1000} s: stop that process if it hangs`,
  ],
  [
    /^SQLITE_(?:NOTADB|CORRUPT)/,
    (store, { code }) =>
      `${store} is damaged or not a SQLite database (${code}): restore it from a backup, or set another file in "store"`,
  ],
  [
    // If a database cannot even be opened, the driver gives SQLite's code in the message alone.
    /^(?:SQLITE_(?:READONLY|CANTOPEN|PERM|AUTH)|EACCES|EPERM|EROFS|ENOTDIR|EISDIR|EEXIST)|: 14\W*$/,
    (store, { code }) =>
      `${store} cannot be opened or written (${code === 'Error' ? 'SQLITE_CANTOPEN' : code}): it must be a file that this user can write to, in a folder that they can write to; ` +
      'change their permissions, or "store" in the configuration',
  ],
];
