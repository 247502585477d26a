import type { CostLine, LedgerSums } from './ledger-sums';
import type { Query } from './postgres-database';

const COLUMNS = { worker: 'worker', rootId: 'root_id', model: 'model' };

/** The ledger of a PostgreSQL store; sums as they come to JavaScript, exact up to 2⁵³. */
export class PostgresLedger implements LedgerSums {
  constructor(private readonly query: Query) {}

  async sum(by: keyof typeof COLUMNS | null, from: string, until: string): Promise<readonly CostLine[]> {
    const column = by === null ? "''" : COLUMNS[by];
    const { rows } = await this.query<CostLine>(
      `SELECT ${column} AS name, count(*)::float8 AS calls, count(*) FILTER (WHERE is_open)::float8 AS open,
           (count(*) - count(nano_usd))::float8 AS unknown, coalesce(sum(input_tokens), 0)::float8 AS "inputTokens",
           coalesce(sum(output_tokens), 0)::float8 AS "outputTokens", coalesce(sum(nano_usd), 0)::float8 AS "nanoUsd"
         FROM $schema.entries WHERE started_at >= $1 AND started_at < $2 GROUP BY 1`,
      from,
      until,
    );
    return rows;
  }

  async firstFrom(time: string): Promise<string | null> {
    const { rows } = await this.query<{ first: string | null }>(
      'SELECT min(started_at) AS first FROM $schema.entries WHERE started_at >= $1',
      time,
    );
    return rows[0]?.first ?? null;
  }
}
