import type { Query } from './postgres-database';
import type { SharedState, SharedStates } from './shared-states';

/** What worker processes share in a PostgreSQL store, by the clock of its server. */
export class PostgresStates implements SharedStates {
  constructor(private readonly query: Query) {}

  async read(name: string): Promise<SharedState> {
    // Of a row that is not there, the time is told all the same.
    const { rows } = await this.query<SharedState>(
      `SELECT state AS text, coalesce(version, 0)::float8 AS version,
           floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
         FROM (VALUES (1)) AS one LEFT JOIN $schema.rates ON name = $1`,
      name,
    );
    const [found] = rows;
    if (found === undefined) throw new Error('PostgreSQL gave no time');
    return found;
  }

  async swap(name: string, text: string, version: number): Promise<boolean> {
    const { rowCount } = await this.query(
      `INSERT INTO $schema.rates AS was (name, version, state) VALUES ($1, 1, $2)
         ON CONFLICT (name) DO UPDATE SET version = was.version + 1, state = excluded.state
           WHERE was.version = $3::bigint`,
      name,
      text,
      String(version),
    );
    return rowCount === 1;
  }
}
