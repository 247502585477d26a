import { stringify } from 'csv-stringify/sync';
import { withoutPassword } from '../../config/store-url';
import { configuredKeys } from '../../encryption/keys';
import {
  type CostGroup,
  type CostQuery,
  type CostReport,
  type Day,
  readDay,
  sumCosts,
  type Zone,
} from '../../store/costs';
import type { CostLine } from '../../store/ledger-sums';
import { openStore } from '../../store/open-store';
import { counted } from '../../trace/describe';
import { oneLine, type Paint, widthOf, wrap } from '../../trace/lines';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { loadSettings } from '../settings';
import { columnsOf, paintFor, print, say, toJson } from '../terminal';

interface CostOptions {
  readonly config?: string;
  readonly by: CostGroup;
  /** Dates, `YYYY-MM-DD`, both included. */
  readonly since?: string;
  readonly until?: string;
  readonly utc?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
}

/** `cost`: sums of what the ledger holds. Needs no server. */
export async function cost(options: CostOptions): Promise<ExitCode> {
  const zone = options.utc ? 'utc' : 'local';
  const span = spanOf(options, zone);
  const config = await loadSettings(options.config);
  const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
  const report = await sumCosts(store, { by: options.by, zone, ...span }, (count) => {
    if (count === ROWS_IN_SILENCE)
      say(`The ledger has more than ${count.toLocaleString('en-US')} rows: reading on …`);
  });
  if (options.json) await print(renderJson(report, span, zone));
  else if (options.csv) await print(renderCsv(report));
  else if (report.lines.length === 0)
    say(`No calls ${describeSpan(span)}in the ledger of ${withoutPassword(config.store)}.`);
  else
    await print(renderTable(report, paintFor(process.stdout), columnsOf(process.stdout)), { painted: true });
  return EXIT.answered;
}

/** More rows than these may take some seconds. */
const ROWS_IN_SILENCE = 5000;

type Span = Pick<CostQuery, 'since' | 'until'>;

function spanOf({ since, until }: CostOptions, zone: Zone): Span {
  if (since !== undefined && until !== undefined && since > until) {
    throw new UsageError(`--since ${since} lies after --until ${until}: no day is left`);
  }
  return { since: dayOf('--since', since, zone), until: dayOf('--until', until, zone) };
}

function dayOf(option: string, name: string | undefined, zone: Zone): Day | undefined {
  if (name === undefined) return undefined;
  const day = readDay(name, zone);
  if (day !== null) return day;
  throw new UsageError(`${option} ${JSON.stringify(name)} is no date: expected one such as 2026-11-21`);
}

function describeSpan({ since, until }: Span): string {
  const from = since === undefined ? '' : `from ${since.name} on `;
  return until === undefined ? from : `${from}up to ${until.name} `;
}

function renderJson({ by, lines, total }: CostReport, { since, until }: Span, zone: Zone): string {
  const timeZone = zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const report = {
    by,
    since: since?.name ?? null,
    until: until?.name ?? null,
    timeZone,
    lines: lines.map(withUsd),
    total: withUsd(total),
  };
  return toJson(report);
}

function withUsd(line: CostLine): CostLine & { costUsd: number; costIsLowerBound: boolean } {
  return { ...line, costUsd: line.nanoUsd / 1e9, costIsLowerBound: line.unknown > 0 };
}

/**
 * A report as CSV (RFC 4180), without the sum, which a spreadsheet makes itself. Amounts are exact. Names come from
 * anyone, so formulas are escaped (OWASP, "CSV Injection").
 */
export function renderCsv({ by, lines }: CostReport): string {
  const rows = lines.map((line) => ({ ...line, costUsd: exactUsd(line.nanoUsd) }));
  return stringify(rows, {
    header: true,
    columns: [
      { key: 'name', header: by },
      { key: 'calls' },
      { key: 'open', header: 'open_calls' },
      { key: 'unknown', header: 'calls_of_unknown_cost' },
      { key: 'inputTokens', header: 'input_tokens' },
      { key: 'outputTokens', header: 'output_tokens' },
      { key: 'costUsd', header: 'cost_usd' },
    ],
    record_delimiter: 'windows',
    // The library quotes the delimiter of records alone: \r\n, and neither of the two.
    quoted_match: /[\r\n]/,
    escape_formulas: true,
  });
}

function exactUsd(nanoUsd: number): string {
  const digits = String(nanoUsd).padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

const GAP = '  ';
const NARROWEST_NAME = 16;

/** A report as a table for a terminal: names to the left, in more than one line where they are long, the sum below. */
export function renderTable({ by, lines, total }: CostReport, paint: Paint, columns = Infinity): string {
  const decimals = decimalsFor([...lines, total]);
  const head = [by, 'calls', 'input', 'output', 'cost'];
  const body = [...lines, total].map((line) => cellsOf(line, decimals));
  const widths = head.map((_, column) =>
    Math.max(...[head, ...body].map((cells) => widthOf(cells[column] ?? ''))),
  );
  const [widest = 0, ...others] = widths;
  const room = others.reduce((left, width) => left - width - GAP.length, columns);
  const names = Math.min(widest, Math.max(NARROWEST_NAME, room));
  const draw = ([name = '', ...numbers]: readonly string[]): string[] => {
    const [first = '', ...rest] = wrap([name], names);
    const cells = numbers.map((cell, column) => cell.padStart(others[column] ?? 0));
    return [[first + ' '.repeat(names - widthOf(first)), ...cells].join(GAP), ...rest];
  };
  const rule = '─'.repeat(others.reduce((sum, width) => sum + GAP.length + width, names));
  return [
    ...draw(head).map(paint.faint),
    ...body.slice(0, -1).flatMap(draw),
    paint.faint(rule),
    ...draw(body.at(-1) ?? []).map(paint.strong),
    ...explain(total),
  ].join('\n');
}

function cellsOf(line: CostLine, decimals: number): string[] {
  const { name, calls, inputTokens, outputTokens, nanoUsd, unknown } = line;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const dollars = `$${(nanoUsd / 1e9).toLocaleString('en-US', digits)}`;
  return [
    oneLine(name, Infinity),
    ...[calls, inputTokens, outputTokens].map((count) => count.toLocaleString('en-US')),
    unknown === 0 ? dollars : `at least ${dollars}`,
  ];
}

/** Enough decimals to show two digits of the least amount, from cents to nano-dollars. */
function decimalsFor(lines: readonly CostLine[]): number {
  const amounts = lines.map(({ nanoUsd }) => nanoUsd / 1e9).filter((amount) => amount > 0);
  const wanted = Math.ceil(-Math.log10(Math.min(1, ...amounts))) + 1;
  return Math.min(9, Math.max(2, wanted));
}

function explain({ unknown, open }: CostLine): string[] {
  if (unknown === 0) return [];
  const kinds: [number, string][] = [
    [open, 'Not over (under way, or its process died)'],
    [unknown - open, 'Over at an unknown cost (no price, or cut off in the middle)'],
  ];
  const reasons = kinds
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${what}: ${counted(count, 'call')}.`);
  return ['', ...reasons, 'Sums with such calls say the least that was spent.'];
}
