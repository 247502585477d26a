import type * as Sdk from 'pg';
import type { StorePlace } from '../config/store-url';
import { explain, needsPackages, type Rule } from '../explain';
import { reasonOf } from '../reason-of';
import { checkSchema, migrateSchema, RIGHTS, SCHEMA_VERSION } from './postgres-schema';
import type { Migration } from './store';

export type PostgresPlace = Extract<StorePlace, { kind: 'postgres' }>;

/** Few, since every worker process has as many: a statement takes a millisecond, and others wait for their turn. */
const CONNECTIONS = 8;

/** A text of 32 MiB takes a second. */
const STATEMENT_MS = 60_000;

/** For a new connection, or until one of the others is free. */
const CONNECT_MS = 30_000;

/** Beyond the server's own limit: for a server that is silent. */
const SILENCE_MS = STATEMENT_MS + 10_000;

type Value = string | Date | Uint8Array;

interface Answer<Row> {
  readonly rows: readonly Row[];
  /** How many were changed. */
  readonly rowCount: number | null;
}

/** Runs one statement, in which `$schema` stands for the quoted name of the schema. */
export type Query = <Row>(sql: string, ...values: readonly Value[]) => Promise<Answer<Row>>;

/** Rows taken at a time, where there may be very many. */
const FETCHED = 1000;

/** A PostgreSQL database, with one pool of connections for all stores of a process that lie in it. */
export class PostgresDatabase {
  private pool: Promise<Sdk.Pool> | undefined;
  /** Connections by which the schema was found to be of our version: whoever updates it has workers begin anew. */
  private readonly checked = new WeakSet<Sdk.ClientBase>();

  private constructor(private readonly place: PostgresPlace) {}

  static at(place: PostgresPlace): PostgresDatabase {
    const name = `${place.schema} ${place.connection}`;
    const database = DATABASES.get(name) ?? new PostgresDatabase(place);
    DATABASES.set(name, database);
    return database;
  }

  readonly query: Query = async <Row>(sql: string, ...values: readonly Value[]) => {
    const ask = (client: Sdk.PoolClient): Promise<Answer<unknown>> =>
      client.query(this.named(sql), [...values]);
    return (await this.withClient(ask)) as Answer<Row>;
  };

  /** By a cursor, in a transaction of its own, which ends when no more rows are taken. */
  readonly stream = <Row>(sql: string, ...values: readonly Value[]): AsyncIterable<Row> =>
    this.fetch<Row>(sql, values);

  private async *fetch<Row>(sql: string, values: readonly Value[]): AsyncGenerator<Row> {
    const client = await this.connect();
    let isDone = false;
    try {
      await client.query('BEGIN READ ONLY');
      await client.query(`DECLARE found NO SCROLL CURSOR FOR ${this.named(sql)}`, [...values]);
      for (let count = FETCHED; count === FETCHED;) {
        const { rows }: Answer<unknown> = await client.query(`FETCH ${FETCHED} FROM found`);
        yield* rows as readonly Awaited<Row>[];
        count = rows.length;
      }
      await client.query('COMMIT');
      isDone = true;
    } catch (error) {
      throw explain(error, RULES, this.place.url);
    } finally {
      client.release(!isDone);
    }
  }

  /** Whether this user may do what a worker does, and the server takes writes. */
  async checkRights(): Promise<void> {
    await this.withClient(async (client) => {
      const { rows } = await client.query<{ isReadOnly: boolean; missing: string | null }>(
        this.named(RIGHTS),
      );
      const [found] = rows;
      if (found?.isReadOnly === true) throw coded('25006', 'it takes no writes');
      if (found?.missing != null) throw coded('42501', `it may not ${found.missing}`);
    });
  }

  private async withClient<T>(work: (client: Sdk.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // Whatever the connection is left in: the next call gets another one.
      client.release(true);
      throw explain(error, RULES, this.place.url);
    }
  }

  private async connect(): Promise<Sdk.PoolClient> {
    try {
      this.pool ??= openPool(this.place);
      const client = await (await this.pool).connect();
      try {
        await this.check(client);
        return client;
      } catch (error) {
        client.release(true);
        throw error;
      }
    } catch (error) {
      throw explain(error, RULES, this.place.url);
    }
  }

  private named(sql: string): string {
    return sql.replaceAll('$schema', `"${this.place.schema}"`);
  }

  private async check(client: Sdk.PoolClient): Promise<void> {
    if (this.checked.has(client)) return;
    await checkSchema(client, this.place.schema);
    this.checked.add(client);
  }
}

const DATABASES = new Map<string, PostgresDatabase>();

async function openPool(place: PostgresPlace): Promise<Sdk.Pool> {
  const sdk = await importSdk();
  const pool = new sdk.Pool({
    ...settingsOf(place),
    Client: discreetClient(sdk),
    max: CONNECTIONS,
    statement_timeout: STATEMENT_MS,
    query_timeout: SILENCE_MS,
    allowExitOnIdle: true,
  });
  // A connection that breaks is gone from the pool, and whoever asked is told: nothing else is to be done.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A server that asks for the password itself gets it over TLS alone: every other way of asking reveals none of it. */
function discreetClient({ Client }: typeof Sdk): typeof Sdk.Client {
  return class extends Client {
    constructor(config?: string | Sdk.ClientConfig) {
      super(config);
      // Before the listener that would answer, which `connect` adds.
      this.connection.on('authenticationCleartextPassword', () => {
        const { stream } = this.connection;
        if ('encrypted' in stream) return;
        this.password = '';
        stream.destroy(coded('CLEAR', 'it asks for the password in the clear'));
      });
    }
  };
}

function settingsOf({ connection }: PostgresPlace): Sdk.ClientConfig {
  return {
    connectionString: connection,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    fallback_application_name: 'temporal-conductor',
  };
}

/** Makes the schema of a store, or brings it to the version of this program. */
export async function migratePostgres(place: PostgresPlace): Promise<Migration> {
  try {
    const client = new (discreetClient(await importSdk()))(settingsOf(place));
    // The caller is told already.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return { from: await migrateSchema(client, place.schema), to: SCHEMA_VERSION };
    } finally {
      await client.end();
    }
  } catch (error) {
    throw explain(error, RULES, place.url);
  }
}

/** It is an optional peer dependency. */
async function importSdk(): Promise<typeof Sdk> {
  try {
    return await import('pg');
  } catch (error) {
    throw coded('NO_PACKAGE', reasonOf(error));
  }
}

/** A refusal of our own, for the rules below. */
function coded(code: string, reason: string): Error {
  return Object.assign(new Error(reason), { code });
}

const MIGRATE = 'run "temporal-conductor store migrate"';

/** Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html, and those of Node. */
const RULES: readonly Rule[] = [
  [/^NO_SCHEMA/, (store) => `${store} has no schema yet: ${MIGRATE}`],
  [
    /^NEWER/,
    (store, { reason }) => `${store} was made by a newer version of temporal-conductor (${reason}): update`,
  ],
  [
    /^EARLIER/,
    (store, { reason }) =>
      `${store} was made by an earlier version of temporal-conductor (${reason}): stop what uses it, and ${MIGRATE}`,
  ],
  [/^NO_PACKAGE/, (_, { reason }) => needsPackages('a store in PostgreSQL', ['pg@8'], reason)],
  [
    /^CLEAR/,
    (store) =>
      `${store} asks for the password in the clear, and it was not sent: use TLS ("sslmode=verify-full" in "store"), ` +
      'or set scram-sha-256 in pg_hba.conf of the server',
  ],
  [
    /^28|password must be a|no password/,
    (store, { reason }) =>
      `${store} refuses the password, or there is none, or this user (${reason}): set PGPASSWORD, or write it into ~/.pgpass; ` +
      'check the user in "store", and pg_hba.conf of the server',
  ],
  [
    /^3D000/,
    (store) => `the database of ${store} does not exist: create it, or correct "store" in the configuration`,
  ],
  [
    /^42501/,
    (store, { reason }) =>
      `the user of ${store} lacks a right (${reason}): grant what docs/store.md names, or name another user in "store"`,
  ],
  [
    /^25006/,
    (store) =>
      `${store} is read-only, as a standby is: name the server that takes writes in "store", or wait until it does`,
  ],
  [
    /^(?:53100|ENOSPC)|No space left/,
    (store, { reason }) => `the disk of ${store} is full (${reason}): make room on its server`,
  ],
  [
    /SSL|TLS|CERT|certificate/,
    (store, { reason }) =>
      `no encrypted connection to ${store} can be made (${reason}): check "sslmode" and "sslrootcert" in "store", and the ` +
      'server\'s certificate; on another machine, "sslmode" is verify-full where the URL names none',
  ],
  [
    /^(?:08|57P)|^E[A-Z_]+ |\bConnection terminated|timeout/,
    (store, { reason }) =>
      `${store} cannot be reached (${reason}): check host and port in "store", the network, and that the server runs`,
  ],
];
