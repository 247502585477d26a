import type { CostLine, Day, LedgerSums } from './store';

/** Statements of a database, which all take the first and the last instant. */
interface Statements {
  /** `FROM` and `WHERE` of the rows between two instants. */
  readonly rows: string;
  query<Row>(sql: string, from: string, until: string): Promise<readonly Row[]>;
  stream<Row>(sql: string, from: string, until: string): AsyncIterable<Row>;
}

const COLUMNS = { worker: 'worker', rootId: 'root_id', model: 'model' };

const SUMS = Object.entries({
  calls: 'count(*)',
  open: 'count(*) FILTER (WHERE is_open)',
  unknown: 'count(*) - count(nano_usd)',
  inputTokens: 'coalesce(sum(input_tokens), 0)',
  outputTokens: 'coalesce(sum(output_tokens), 0)',
  nanoUsd: 'coalesce(sum(nano_usd), 0)',
  savedNanoUsd: 'coalesce(sum(saved_nano_usd), 0)',
})
  // Doubles become numbers in JavaScript, exact up to 2⁵³; PostgreSQL's drivers give larger integers as texts.
  .map(([name, sum]) => `CAST(${sum} AS float8) AS "${name}"`)
  .join(', ');

/** The ledger of a database that keeps what `cost` sums in columns of their own. */
export class SqlLedger implements LedgerSums {
  constructor(private readonly statements: Statements) {}

  sumBy(by: keyof typeof COLUMNS, from: string, until: string): AsyncIterable<CostLine> {
    const { rows } = this.statements;
    const sql = `SELECT ${COLUMNS[by]} AS name, ${SUMS} ${rows} GROUP BY 1 ORDER BY "nanoUsd" DESC, name`;
    return this.statements.stream(sql, from, until);
  }

  /** A query for each day, which the index answers: to tell the day of each row would take four times as long. */
  async sumDays(days: readonly Day[]): Promise<readonly CostLine[]> {
    const sql = `SELECT ${SUMS} ${this.statements.rows}`;
    const lines = await Promise.all(
      days.map(async ({ name, begins, ends }) => {
        const found = await this.statements.query<CostLine>(sql, begins, ends);
        return found.map((line) => ({ ...line, name }));
      }),
    );
    return lines.flat().filter(({ calls }) => calls > 0);
  }

  async span(from: string, until: string): Promise<{ first: string; last: string } | null> {
    const [first, last] = await Promise.all([this.find('min', from, until), this.find('max', from, until)]);
    return first === null || last === null ? null : { first, last };
  }

  /** Asked for alone, either end is found without reading the index between them. */
  private async find(which: 'min' | 'max', from: string, until: string): Promise<string | null> {
    const sql = `SELECT ${which}(started_at) AS at ${this.statements.rows}`;
    const [row] = await this.statements.query<{ at: string | null }>(sql, from, until);
    return row?.at ?? null;
  }
}
