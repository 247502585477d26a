import type { ClientBase } from 'pg';
import { refusal } from './sql-store';

/**
 * Statements that migrate a schema (`$schema`: its quoted name) from each version to the next; a published one never
 * changes. A trigger extracts what `cost` sums from the ledger's rows as they are written; a row that is not JSON
 * counts as open. `\u0000` is replaced, since PostgreSQL's JSON rejects it.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE $schema.entries (
    key text COLLATE "C" PRIMARY KEY,
    modified timestamptz NOT NULL,
    bytes bytea NOT NULL,
    started_at text COLLATE "C",
    worker text,
    root_id text,
    model text,
    is_open boolean,
    nano_usd bigint,
    input_tokens bigint,
    output_tokens bigint,
    saved_nano_usd bigint
  );
  CREATE FUNCTION $schema.read_ledger_row() RETURNS trigger LANGUAGE plpgsql AS $body$
    DECLARE
      content jsonb;
    BEGIN
      BEGIN
        content := replace(convert_from(NEW.bytes, 'UTF8'), '\\u0000', '\\u0001')::jsonb;
        NEW.nano_usd := (content ->> 'nanoUsd')::numeric;
        NEW.input_tokens := (content -> 'usage' ->> 'inputTokens')::numeric;
        NEW.output_tokens := (content -> 'usage' ->> 'outputTokens')::numeric;
        NEW.saved_nano_usd := (content ->> 'savedNanoUsd')::numeric;
      EXCEPTION WHEN OTHERS THEN
        content := '{}';
        NEW.nano_usd := NULL;
        NEW.input_tokens := NULL;
        NEW.output_tokens := NULL;
        NEW.saved_nano_usd := NULL;
      END;
      NEW.started_at := coalesce(left(content ->> 'startedAt', 100),
        to_char(NEW.modified AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
      NEW.worker := coalesce(content ->> 'worker', 'unknown');
      NEW.root_id := coalesce(content ->> 'rootId', 'unknown');
      NEW.model := coalesce(content ->> 'model', 'unknown');
      NEW.is_open := content ->> 'endedAt' IS NULL;
      RETURN NEW;
    END
  $body$;
  CREATE TRIGGER read_ledger_row BEFORE INSERT OR UPDATE ON $schema.entries
    FOR EACH ROW WHEN (NEW.key LIKE 'ledger/%') EXECUTE FUNCTION $schema.read_ledger_row();
  CREATE INDEX ledger ON $schema.entries (started_at)
    INCLUDE (is_open, nano_usd, saved_nano_usd, input_tokens, output_tokens) WHERE started_at IS NOT NULL;
  -- Rates of each model, which worker processes share.
  CREATE TABLE $schema.rates (name text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, state text NOT NULL);
  `,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** @throws Error if there is no schema, or this program cannot use its version */
export async function checkSchema(client: Queryable, schema: string): Promise<void> {
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM "${schema}".version`);
  refuseOther(rows[0]?.version ?? 0);
}

type Queryable = Pick<ClientBase, 'query'>;

function refuseOther(version: number): void {
  if (version === SCHEMA_VERSION) return;
  const [age, remedy] =
    version > SCHEMA_VERSION
      ? ['a newer', 'update']
      : ['an earlier', 'stop what uses it, then run "temporal-conductor store migrate"'];
  throw refusal(
    `was made by ${age} version of temporal-conductor (its tables have version ${version}, but this program knows ` +
      `${SCHEMA_VERSION}): ${remedy}`,
  );
}

/**
 * Migrates a schema to the version of this program in one transaction. Of concurrent callers, one does the work.
 * Returns the version before, or null if there was no schema.
 * @throws Error if a newer program made the schema
 */
export async function migrateSchema(client: ClientBase, schema: string): Promise<number | null> {
  await client.query('BEGIN');
  const lock = "SELECT pg_advisory_xact_lock(hashtextextended('temporal-conductor ' || $1, 0))";
  await client.query(lock, [schema]);
  const was = await versionOf(client, schema);
  if (was !== null && was > SCHEMA_VERSION) refuseOther(was);
  if (was === null) await createSchema(client, schema);
  for (const migration of MIGRATIONS.slice(was ?? 0)) {
    await client.query(migration.replaceAll('$schema', `"${schema}"`));
  }
  await client.query(`UPDATE "${schema}".version SET version = ${SCHEMA_VERSION}`);
  await client.query('COMMIT');
  return was;
}

/** Creates an empty schema of version 0. It may exist already, made for a role that may not create one. */
async function createSchema(client: ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`CREATE SCHEMA "${schema}"`);
  await client.query(`CREATE TABLE "${schema}".version (version integer NOT NULL)`);
  await client.query(`INSERT INTO "${schema}".version VALUES (0)`);
}

async function versionOf(client: ClientBase, schema: string): Promise<number | null> {
  const table = "SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'version'";
  if ((await client.query(table, [schema])).rows.length === 0) return null;
  const { rows } = await client.query<{ version: number }>(`SELECT version FROM "${schema}".version`);
  return rows[0]?.version ?? null;
}

/** Query for a server or role that takes no writes (a standby is in recovery), and for missing rights. */
export const RIGHTS = `
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS "isReadOnly",
    (SELECT string_agg(privilege || ' ' || name, ', ')
      FROM unnest(ARRAY['entries', 'rates']) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS privilege
      WHERE NOT has_table_privilege('$schema.' || name, privilege)) AS missing`;
