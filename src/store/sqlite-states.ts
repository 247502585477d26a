import type { SharedState, SharedStates } from './shared-states';
import type { Query, Value } from './sqlite-database';

/** What the worker processes of a machine share in a SQLite store, by the clock of that machine. */
export class SqliteStates implements SharedStates {
  /** @param change runs a statement and tells whether it changed a row */
  constructor(
    private readonly query: Query,
    private readonly change: (sql: string, values: readonly Value[]) => Promise<boolean>,
  ) {}

  async read(name: string): Promise<SharedState> {
    // Of a row that is not there, the time is told all the same.
    const [found] = await this.query<SharedState>(
      `SELECT state AS text, coalesce(version, 0) AS version, CAST(unixepoch('subsec') * 1000 AS INTEGER) AS now
         FROM (SELECT 1) LEFT JOIN rates ON name = ?`,
      name,
    );
    if (found === undefined) throw new Error('SQLite gave no time');
    return found;
  }

  swap(name: string, text: string, version: number): Promise<boolean> {
    return this.change(
      `INSERT INTO rates (name, version, state) VALUES (?, 1, ?)
         ON CONFLICT (name) DO UPDATE SET version = version + 1, state = excluded.state WHERE version = ?`,
      [name, text, version],
    );
  }
}
