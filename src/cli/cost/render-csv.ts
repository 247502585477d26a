import type { CostLine, CostReport } from '../../ledger/sum-costs';

/** The columns behind the name, which is headed by what the report is by. Amounts are exact: nine decimals of a USD. */
const COLUMNS: Readonly<Record<string, (line: CostLine) => string | number>> = {
  calls: ({ calls }) => calls,
  open_calls: ({ open }) => open,
  calls_of_unknown_cost: ({ unknown }) => unknown,
  input_tokens: ({ inputTokens }) => inputTokens,
  output_tokens: ({ outputTokens }) => outputTokens,
  cost_usd: ({ nanoUsd }) => exactUsd(nanoUsd),
};

/** A report as CSV (RFC 4180), a line each group and none for the sum, which a spreadsheet makes itself. */
export function renderCsv({ by, lines }: CostReport): string {
  const rows = lines.map((line) => [
    line.name,
    ...Object.values(COLUMNS).map((valueOf) => String(valueOf(line))),
  ]);
  return [[by, ...Object.keys(COLUMNS)], ...rows]
    .map((cells) => `${cells.map(quote).join(',')}\r\n`)
    .join('');
}

/**
 * Quotes what holds a separator. What a spreadsheet would take for a formula is led by an apostrophe (OWASP, "CSV
 * Injection"): a model or a workflow may be named by anybody.
 */
function quote(cell: string): string {
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function exactUsd(nanoUsd: number): string {
  const digits = String(nanoUsd).padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
