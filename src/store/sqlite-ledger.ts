import type { CostLine, Day, LedgerSums } from './ledger-sums';
import type { Query, Stream } from './sqlite-database';

const COLUMNS = { worker: 'worker', rootId: 'root_id', model: 'model' };

const SUMS = `count(*) AS calls, coalesce(sum(is_open), 0) AS open, count(*) - count(nano_usd) AS unknown,
  coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens,
  coalesce(sum(nano_usd), 0) AS nanoUsd, coalesce(sum(saved_nano_usd), 0) AS savedNanoUsd`;

/** Only the index is read, which holds some hundred bytes a row. */
const ROWS = 'FROM entries INDEXED BY ledger WHERE is_row = 1 AND started_at >= ? AND started_at < ?';

/** The ledger of a SQLite store. */
export class SqliteLedger implements LedgerSums {
  constructor(
    private readonly query: Query,
    private readonly stream: Stream,
  ) {}

  sumBy(by: keyof typeof COLUMNS, from: string, until: string): AsyncIterable<CostLine> {
    const sql = `SELECT ${COLUMNS[by]} AS name, ${SUMS} ${ROWS} GROUP BY 1 ORDER BY nanoUsd DESC, name`;
    return this.stream<CostLine>(sql, from, until);
  }

  async sumDays(days: readonly Day[]): Promise<readonly CostLine[]> {
    const lines: CostLine[] = [];
    for (const { name, begins, ends } of days) {
      const [line] = await this.query<CostLine>(`SELECT ${SUMS} ${ROWS}`, begins, ends);
      if (line !== undefined && line.calls > 0) lines.push({ ...line, name });
    }
    return lines;
  }

  async span(from: string, until: string): Promise<{ first: string; last: string } | null> {
    const at = async (which: 'min' | 'max'): Promise<string | null> => {
      const [row] = await this.query<{ at: string | null }>(
        `SELECT ${which}(started_at) AS at ${ROWS}`,
        from,
        until,
      );
      return row?.at ?? null;
    };
    const [first, last] = [await at('min'), await at('max')];
    return first === null || last === null ? null : { first, last };
  }
}
