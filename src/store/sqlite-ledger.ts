import type { CostLine, LedgerSums } from './ledger-sums';
import type { Query } from './sqlite-database';

const COLUMNS = { worker: 'worker', rootId: 'root_id', model: 'model' };

/** The ledger of a SQLite store. Only the index is read, which holds some hundred bytes a row. */
const ROWS = 'FROM entries INDEXED BY ledger WHERE is_row = 1 AND started_at >= ?';

export class SqliteLedger implements LedgerSums {
  constructor(private readonly query: Query) {}

  async sum(by: keyof typeof COLUMNS | null, from: string, until: string): Promise<readonly CostLine[]> {
    const column = by === null ? "''" : COLUMNS[by];
    return this.query<CostLine>(
      `SELECT ${column} AS name, count(*) AS calls, sum(is_open) AS open, count(*) - count(nano_usd) AS unknown,
           coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens,
           coalesce(sum(nano_usd), 0) AS nanoUsd
         ${ROWS} AND started_at < ? GROUP BY 1`,
      from,
      until,
    );
  }

  async firstFrom(time: string): Promise<string | null> {
    const [found] = await this.query<{ first: string | null }>(
      `SELECT min(started_at) AS first ${ROWS}`,
      time,
    );
    return found?.first ?? null;
  }
}
