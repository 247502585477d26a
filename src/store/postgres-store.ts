import type * as Sdk from 'pg';
import type { StorePlace } from '../config/store-url';
import { explain, needsPackages, reasonOf, type ErrorRule } from '../errors';
import { openOnce } from '../runtime/turns';
import { checkSchema, migrateSchema, RIGHTS, SCHEMA_VERSION } from './postgres-schema';
import { type Query, refusal, SqlStore, type Value } from './sql-store';
import type { Migration } from './store';

type PostgresPlace = Extract<StorePlace, { kind: 'postgres' }>;

/** Connections per pool: few, since every worker process has as many, and a statement takes a millisecond. */
const CONNECTIONS = 8;
/** Statement timeout; a text of 32 MiB takes a second. */
const STATEMENT_MS = 60_000;
/** Timeout for a new connection, or for one of the pool's to become free. */
const CONNECT_MS = 30_000;
/** Client-side timeout, longer than the server's own, for a server that does not respond. */
const SILENCE_MS = STATEMENT_MS + 10_000;

/**
 * Store in a PostgreSQL database, for workers on several machines. Confirmed writes survive a power loss if the
 * server's `fsync` and `synchronous_commit` are on.
 * @throws Error, from each method, in one sentence: server out of reach, missing rights, or another schema version
 */
export class PostgresStore extends SqlStore {
  readonly url: string;

  constructor(private readonly place: PostgresPlace) {
    const schema = `"${place.schema}".`;
    super({
      schema,
      now: 'clock_timestamp()',
      millisecondsOf: (time) => `CAST(floor(extract(epoch FROM ${time}) * 1000) AS float8)`,
      timeOf: (milliseconds) => `to_timestamp(CAST(${milliseconds} AS float8) / 1000)`,
      rows: `FROM ${schema}entries WHERE started_at >= $1 AND started_at < $2`,
    });
    this.url = place.url;
  }

  protected isThere(): boolean {
    return true;
  }

  protected readonly query: Query = async <Row>(sql: string, ...values: readonly Value[]) =>
    this.explained(async () => {
      const pool = await poolOf(this.place);
      const { rows }: { readonly rows: unknown[] } = await pool.query(sql, [...values]);
      return rows as Row[];
    });

  protected readonly changes = async (sql: string, ...values: readonly Value[]): Promise<boolean> =>
    (await this.query(`${sql} RETURNING 1 AS one`, ...values)).length === 1;

  /** Checks that this user has a worker's rights, and that the server accepts writes. */
  async check(): Promise<void> {
    const sql = RIGHTS.replaceAll('$schema', `"${this.place.schema}"`);
    const [found] = await this.query<{ isReadOnly: boolean; missing: string | null }>(sql);
    await this.explained(() => {
      if (found?.isReadOnly === true) throw coded('25006', 'it takes no writes');
      if (found?.missing != null) throw coded('42501', `it may not ${found.missing}`);
    });
  }

  async migrate(): Promise<Migration> {
    return this.explained(async () => {
      const client = new (discreetClient(await importSdk()))(connectionSettings(this.place));
      client.on('error', () => undefined);
      try {
        await client.connect();
        return { from: await migrateSchema(client, this.place.schema), to: SCHEMA_VERSION };
      } finally {
        await client.end();
      }
    });
  }

  /** Notifies each folder's readers after the write: within it, the notification would block all others that notify. */
  override async append(entries: Parameters<SqlStore['append']>[0]): Promise<void> {
    await super.append(entries);
    const folders = new Set(entries.map(([key]) => key.split('/', 2).join('/')));
    if (folders.size > 0) await this.query(NOTIFY, CHANNEL, [...folders].join(' ')).catch(() => undefined);
  }

  onAppend(prefix: string, wake: () => void): () => void {
    return listenerOf(this.place).subscribe(prefix.replace(/\/$/, ''), wake);
  }

  private async explained<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explain(error, RULES, this.url);
    }
  }
}

/** Pools by schema and connection URL; all stores of a process share them. */
const POOLS = new Map<string, Promise<Sdk.Pool>>();

/** Listeners by connection URL; all stores of a process share them. */
const LISTENERS = new Map<string, PostgresListener>();

function listenerOf(place: PostgresPlace): PostgresListener {
  const known = LISTENERS.get(place.connection);
  const listener =
    known ??
    new PostgresListener(async () => new (discreetClient(await importSdk()))(connectionSettings(place)));
  LISTENERS.set(place.connection, listener);
  return listener;
}

const CHANNEL = 'temporal_conductor';

/** Statement that notifies each folder separately, all in one commit: a payload must be shorter than 8000 bytes. */
const NOTIFY = "SELECT pg_notify($1, folder) FROM unnest(string_to_array($2, ' ')) AS folder";

const AGAIN_MS = 1000;

/**
 * Wakes the readers of a process over one connection of its own, which is open while there are readers. Its errors are
 * ignored: without it, e.g. behind a pooler that breaks LISTEN, the readers' timers suffice.
 */
class PostgresListener {
  private readonly wakes = new Map<string, Set<() => void>>();
  private client: Promise<Sdk.Client> | undefined;

  constructor(private readonly open: () => Promise<Sdk.Client>) {}

  subscribe(folder: string, wake: () => void): () => void {
    const wakes = this.wakes.get(folder) ?? new Set();
    this.wakes.set(folder, wakes.add(wake));
    this.connect();
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0 && this.wakes.get(folder) === wakes) this.wakes.delete(folder);
      if (this.wakes.size === 0) this.close();
    };
  }

  private connect(): void {
    if (this.client !== undefined || this.wakes.size === 0) return;
    const lose = (): void => {
      if (this.client !== client) return;
      this.close();
      setTimeout(() => {
        this.connect();
      }, AGAIN_MS).unref();
    };
    const client = this.listen(lose);
    this.client = client;
    client.catch(lose);
  }

  private async listen(lose: () => void): Promise<Sdk.Client> {
    const client = await this.open();
    client.on('error', lose).on('end', lose);
    client.on('notification', ({ payload = '' }) => {
      this.wake(this.wakes.get(payload));
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      await client.end();
      throw error;
    }
    // Notifications from before LISTEN were missed, so all readers are woken.
    for (const wakes of this.wakes.values()) this.wake(wakes);
    return client;
  }

  private wake(wakes: Iterable<() => void> = []): void {
    for (const wake of [...wakes]) wake();
  }

  private close(): void {
    const client = this.client;
    this.client = undefined;
    client?.then((open) => open.end()).catch(() => undefined);
  }
}

function poolOf(place: PostgresPlace): Promise<Sdk.Pool> {
  return openOnce(POOLS, `${place.schema} ${place.connection}`, () => openPool(place));
}

async function openPool(place: PostgresPlace): Promise<Sdk.Pool> {
  const sdk = await importSdk();
  const pool = new sdk.Pool({
    ...connectionSettings(place),
    Client: discreetClient(sdk),
    max: CONNECTIONS,
    statement_timeout: STATEMENT_MS,
    query_timeout: SILENCE_MS,
    allowExitOnIdle: true,
  });
  // The pool drops a broken connection, and its caller gets the error: nothing else is to be done.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  try {
    await checkSchema(pool, place.schema);
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Returns a client that sends a cleartext password over TLS only; other authentication methods reveal none of it. */
function discreetClient({ Client }: typeof Sdk): typeof Sdk.Client {
  return class extends Client {
    constructor(config?: string | Sdk.ClientConfig) {
      super(config);
      // Registered before the listener that would answer, which `connect` adds.
      this.connection.on('authenticationCleartextPassword', () => {
        const { stream } = this.connection;
        if ('encrypted' in stream) return;
        this.password = '';
        stream.destroy(
          refusal(
            'asks for the password in the clear, and it was not sent: use TLS ("sslmode=verify-full" in "store"), ' +
              'or set scram-sha-256 in pg_hba.conf on the server',
          ),
        );
      });
    }
  };
}

function connectionSettings({ connection }: PostgresPlace): Sdk.ClientConfig {
  return {
    connectionString: connection,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    fallback_application_name: 'temporal-conductor',
  };
}

function importSdk(): Promise<typeof Sdk> {
  return import('pg').catch((error: unknown) => {
    throw coded('NO_PACKAGE', reasonOf(error));
  });
}

/** Returns an error with a code that the rules below match. */
function coded(code: string, reason: string): Error {
  return Object.assign(new Error(reason), { code });
}

/** Codes of https://www.postgresql.org/docs/current/errcodes-appendix.html, and those of Node. */
const RULES: readonly ErrorRule[] = [
  [/^REFUSED/, (store, { reason }) => `${store} ${reason}`],
  [/^(?:42P01|3F000)/, (store) => `${store} has no schema yet: run "temporal-conductor store migrate"`],
  [/^NO_PACKAGE/, (_, { reason }) => needsPackages('a store in PostgreSQL', ['pg@8'], reason)],
  [
    /^28|password must be a|no password/,
    (store, { reason }) =>
      `the login to ${store} failed (${reason}): set PGPASSWORD or add the password to ~/.pgpass, and check the user in ` +
      '"store" and pg_hba.conf on the server',
  ],
  [
    /^42501/,
    (store, { reason }) =>
      `the user of ${store} lacks a privilege (${reason}): grant those listed in docs/store.md, or set another user in "store"`,
  ],
  [
    /^25006/,
    (store) =>
      `${store} is read-only, perhaps a standby: set "store" to the primary server, or wait until this one accepts writes`,
  ],
  [
    /SSL|TLS|CERT|certificate/,
    (store, { reason }) =>
      `cannot open an encrypted connection to ${store} (${reason}): check "sslmode" and "sslrootcert" in "store", and the ` +
      'server\'s certificate; "sslmode" defaults to verify-full for a server on another machine',
  ],
  [
    /^(?:08|57P)|^E[A-Z_]+ |\bConnection terminated|timeout/,
    (store, { reason }) =>
      `${store} cannot be reached (${reason}): check host and port in "store", the network, and that the server is running`,
  ],
];
