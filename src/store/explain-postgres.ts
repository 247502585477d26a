import { SCHEMA_VERSION, SchemaVersionError } from './postgres-schema';

/** Few, since every worker process has as many: a statement takes a millisecond, and others wait for their turn. */
export const CONNECTIONS = 8;

/** A text of 32 MiB takes a second. */
export const STATEMENT_MS = 60_000;

/** A refusal that comes at the first write, known before it. */
export class RefusedError extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** The server asks for what is sent over TLS alone. */
export class ClearPasswordError extends Error {
  readonly code = 'CLEAR';
}

/** The package is not there, or not loadable. */
export class MissingPackageError extends Error {}

const MIGRATE = 'run "temporal-conductor store migrate"';

type Rule = readonly [fits: RegExp, say: (store: string, reason: string) => string];

/**
 * By code and message, the first that fits. Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html, and
 * those of Node; where `pg` fails by itself, there is a message alone.
 */
const RULES: readonly Rule[] = [
  [
    /^CLEAR/,
    (store) =>
      `${store} asks for the password in the clear, and it was not sent: use TLS ("sslmode=verify-full" in "store"), ` +
      'or set scram-sha-256 in pg_hba.conf of the server',
  ],
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
      `no encrypted connection to ${store} can be made (${reason}): check "sslmode" and "sslrootcert" in "store", and the ` +
      'server\'s certificate; on another machine, "sslmode" is verify-full where the URL names none',
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
export function explainPostgres(error: unknown, store: string): Error {
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
export function messageOf(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown };
  if (typeof message !== 'string') return String(error);
  // Of a host with several addresses, which all failed, only the code is told.
  return message === '' ? codeOf(error) : message.slice(0, 300);
}
