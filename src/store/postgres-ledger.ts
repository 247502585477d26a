import type { CostLine, Day, LedgerSums } from './ledger-sums';
import type { Query, Stream } from './postgres-database';

const COLUMNS = { worker: 'worker', rootId: 'root_id', model: 'model' };

/** As they come to JavaScript, exact up to 2⁵³. */
const SUMS = `count(*)::float8 AS calls, count(*) FILTER (WHERE is_open)::float8 AS open,
  (count(*) - count(nano_usd))::float8 AS unknown, coalesce(sum(input_tokens), 0)::float8 AS "inputTokens",
  coalesce(sum(output_tokens), 0)::float8 AS "outputTokens", coalesce(sum(nano_usd), 0)::float8 AS "nanoUsd",
  coalesce(sum(saved_nano_usd), 0)::float8 AS "savedNanoUsd"`;

/** The ledger of a PostgreSQL store. */
export class PostgresLedger implements LedgerSums {
  constructor(
    private readonly query: Query,
    private readonly stream: Stream,
  ) {}

  sumBy(by: keyof typeof COLUMNS, from: string, until: string): AsyncIterable<CostLine> {
    return this.stream<CostLine>(
      `SELECT ${COLUMNS[by]} AS name, ${SUMS} FROM $schema.entries
         WHERE started_at >= $1 AND started_at < $2 GROUP BY 1 ORDER BY "nanoUsd" DESC, name`,
      from,
      until,
    );
  }

  /** One query, which looks into the index once for each day: to tell the day of each row would take four times as long. */
  async sumDays(days: readonly Day[]): Promise<readonly CostLine[]> {
    const { rows } = await this.query<CostLine>(
      `SELECT day.name, sums.* FROM
           json_to_recordset($1::json) AS day (name text, begins text, ends text),
           LATERAL (SELECT ${SUMS} FROM $schema.entries
             WHERE started_at >= day.begins COLLATE "C" AND started_at < day.ends COLLATE "C") AS sums
         WHERE sums.calls > 0`,
      JSON.stringify(days),
    );
    return rows;
  }

  async span(from: string, until: string): Promise<{ first: string; last: string } | null> {
    const { rows } = await this.query<{ first: string | null; last: string | null }>(
      `SELECT min(started_at) AS first, max(started_at) AS last FROM $schema.entries
         WHERE started_at >= $1 AND started_at < $2`,
      from,
      until,
    );
    const { first = null, last = null } = rows[0] ?? {};
    return first === null || last === null ? null : { first, last };
  }
}
