import type * as Sdk from 'pg';
import type { StorePlace } from '../config/store-url';
import { checkSchema, migrateSchema, SCHEMA_VERSION, SchemaVersionError } from './postgres-schema';
import type { Migration } from './store';

export type PostgresPlace = Extract<StorePlace, { kind: 'postgres' }>;

/** Few, since every worker process has as many: a statement takes a millisecond, and others wait for their turn. */
const CONNECTIONS = 8;

/** For a new connection, or until one of the others is free. */
const CONNECT_MS = 30_000;

/** A text of 32 MiB takes a second. */
const STATEMENT_MS = 60_000;

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

/** The same, and gives its rows one by one. */
export type Stream = <Row>(sql: string, ...values: readonly Value[]) => AsyncIterable<Row>;

/** So many rows are taken at a time, where there may be very many. */
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
  readonly stream: Stream = <Row>(sql: string, ...values: readonly Value[]) => this.fetch<Row>(sql, values);

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
      throw explainPostgres(error, this.place.url);
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
      if (found?.isReadOnly === true) throw new RefusedError('it takes no writes', '25006');
      if (found?.missing != null) throw new RefusedError(`it may not ${found.missing}`, '42501');
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
      throw explainPostgres(error, this.place.url);
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
      throw explainPostgres(error, this.place.url);
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

/** What is asked of the server before the first write: a standby is in recovery, and a role may have no writes either. */
const RIGHTS = `
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS "isReadOnly",
    (SELECT string_agg(privilege || ' ' || name, ', ')
      FROM unnest(ARRAY['entries', 'rates']) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS privilege
      WHERE NOT has_table_privilege('$schema.' || name, privilege)) AS missing`;

/** A refusal that comes at the first write, known before it. */
class RefusedError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

const DATABASES = new Map<string, PostgresDatabase>();

async function openPool(place: PostgresPlace): Promise<Sdk.Pool> {
  const { Pool } = await importSdk();
  const pool = new Pool({
    ...settingsOf(place),
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
    const { Client } = await importSdk();
    const client = new Client(settingsOf(place));
    // What is told to whoever asks, is told again here.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return { from: await migrateSchema(client, place.schema), to: SCHEMA_VERSION };
    } finally {
      await client.end();
    }
  } catch (error) {
    throw explainPostgres(error, place.url);
  }
}

/** It is an optional peer dependency. */
async function importSdk(): Promise<typeof Sdk> {
  try {
    return await import('pg');
  } catch (error) {
    throw new MissingPackageError(messageOf(error), { cause: error });
  }
}

class MissingPackageError extends Error {}

const MIGRATE = 'run "temporal-conductor store migrate"';

type Rule = readonly [fits: RegExp, say: (store: string, reason: string) => string];

/**
 * By code and message, the first that fits. Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html, and
 * those of Node; where `pg` fails by itself, there is a message alone.
 */
const RULES: readonly Rule[] = [
  [
    /^28P01|password must be a|no password/,
    (store, reason) =>
      `${store} refuses the password, or there is none (${reason}): set PGPASSWORD, or write it into ~/.pgpass`,
  ],
  [
    /^28/,
    (store, reason) =>
      `${store} does not let this user in (${reason}): check the user in "store", and pg_hba.conf of the server`,
  ],
  [
    /^3D000/,
    (store) => `the database of ${store} does not exist: create it, or correct "store" in the configuration`,
  ],
  [
    /^42501/,
    (store, reason) =>
      `the user of ${store} lacks a right (${reason}): grant what docs/store.md names, or name another user in "store"`,
  ],
  [
    /^25006/,
    (store) =>
      `${store} is read-only, as a standby is: name the server that takes writes in "store", or wait until it does`,
  ],
  [
    /^(?:53100|ENOSPC)|No space left/,
    (store, reason) => `the disk of ${store} is full (${reason}): make room on its server`,
  ],
  [
    /^53/,
    (store, reason) =>
      `${store} has no connection left, or no memory (${reason}): end what holds them, or raise max_connections; ` +
      `each process of this package holds ${CONNECTIONS} at most`,
  ],
  [
    /^57014|^55P03|Query read timeout/,
    (store, reason) =>
      `${store} did not answer within ${STATEMENT_MS / 1000} s (${reason}): look what its server is busy with, and try again`,
  ],
  [
    /unsupported startup parameter/,
    (store, reason) =>
      `${store} is behind PgBouncer, which refuses the limit on time (${reason}): ` +
      'set "ignore_startup_parameters = statement_timeout" in pgbouncer.ini',
  ],
  [
    /SSL|TLS|CERT|certificate/,
    (store, reason) =>
      `no encrypted connection to ${store} can be made (${reason}): check "sslmode" and "sslrootcert" in "store", and the server's certificate`,
  ],
  [
    /^(?:08|57P)|^E[A-Z_]+ |^Connection terminated|timeout/,
    (store, reason) =>
      `${store} cannot be reached (${reason}): check host and port in "store", the network, and that the server runs`,
  ],
  [
    /^(?:42P01|3F000|42703)/,
    (store, reason) =>
      `the schema of ${store} is incomplete (${reason}): put back a copy, or name another one`,
  ],
];

/** An error of PostgreSQL, or on the way to it, in one sentence: what happened, to which database, what to do. */
function explainPostgres(error: unknown, store: string): Error {
  if (error instanceof SchemaVersionError) return new Error(explainVersion(error, store));
  const reason = messageOf(error);
  if (error instanceof MissingPackageError) {
    return new Error(
      `a store in PostgreSQL needs the package pg, which cannot be loaded; install it with "npm install pg@8" (${reason})`,
      { cause: error },
    );
  }
  const facts = `${codeOf(error)} ${reason}`.trimStart();
  const [, say] = RULES.find(([fits]) => fits.test(facts)) ?? [];
  const sentence =
    say?.(store, reason) ?? `${store} failed with ${facts}; look at its server, and try again later`;
  return new Error(sentence, { cause: error });
}

function explainVersion({ version, message }: SchemaVersionError, store: string): string {
  if (version === null) return `${store} has no schema yet: ${MIGRATE}`;
  if (version > SCHEMA_VERSION) {
    return `${store} was migrated by a newer version of temporal-conductor (${message}): update`;
  }
  return `${store} was made by an earlier version of temporal-conductor (${message}): stop what uses it, and ${MIGRATE}`;
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** By shape, since errors of Node's own modules are no `Error` of another realm (jest, vm). */
function messageOf(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown };
  if (typeof message !== 'string') return String(error);
  // Of a host with several addresses, which all failed, only the code is told.
  return message === '' ? codeOf(error) : message.slice(0, 300);
}
