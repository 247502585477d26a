import { add, type CostReport, NO_CALLS } from '../../src/store/costs';
import type { CostLine } from '../../src/store/store';

export interface ReadReport {
  readonly lines: readonly CostLine[];
  readonly total: CostLine;
}

/** All lines of a report, and their sum. */
export async function readReport(report: CostReport): Promise<ReadReport> {
  const lines: CostLine[] = [];
  for await (const line of report.lines()) lines.push(line);
  return { lines, total: lines.reduce(add, NO_CALLS) };
}
