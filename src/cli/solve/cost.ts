import { withoutPassword } from '../../config/store-url';
import { type CostQuery, type CostReport, readDay, sumCosts, withUsd } from '../../store/costs';
import type { CostLine, CalendarDay } from '../../store/store';
import { counted } from '../../trace/describe';
import { oneLine, type Paint, widthOf, wrap } from '../../trace/lines';
import { EXIT, type ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import { loadSettings, type WorkOptions } from '../kit/load-settings';
import { configuredStore } from '../../store/open-store';
import { columnsOf, paintFor, print, say, toJson } from '../kit/terminal';

interface CostOptions extends WorkOptions {
  readonly by: CostQuery['by'];
  /** Dates, `YYYY-MM-DD`, both included. */
  readonly since?: string;
  readonly until?: string;
  readonly utc?: boolean;
  readonly csv?: boolean;
  readonly json?: boolean;
}

/** `cost`: prints sums of the ledger. Needs no server. */
export async function cost(options: CostOptions): Promise<ExitCode> {
  const zone = options.utc ? 'utc' : 'local';
  const span = spanOf(options, zone);
  const config = await loadSettings(options);
  const store = configuredStore(config);
  const report = await sumCosts(store, { by: options.by, zone, ...span }, (count) => {
    if (count === ROWS_IN_SILENCE)
      say(`The ledger has more than ${count.toLocaleString('en-US')} rows: reading on …`);
  });
  if (options.json) await print(renderJson(report, span, zone));
  else if (options.csv) await print(renderCsv(report));
  else if (report.lines.length === 0)
    say(`No calls ${describeSpan(span)}in the ledger of ${withoutPassword(config.store)}.`);
  else {
    const table = renderTable(report, paintFor(process.stdout), columnsOf(process.stdout));
    await print(table.join('\n'), { painted: true });
  }
  return EXIT.answered;
}

/** Number of rows at which progress is reported: reading more may take some seconds. */
const ROWS_IN_SILENCE = 5000;

type Span = Pick<CostQuery, 'since' | 'until'>;
type Zone = CostQuery['zone'];

function spanOf({ since, until }: CostOptions, zone: Zone): Span {
  if (since !== undefined && until !== undefined && since > until) {
    throw new UsageError(`--since ${since} lies after --until ${until}: no day is left`);
  }
  const dayOf = (name = ''): CalendarDay | undefined => readDay(name, zone) ?? undefined;
  return { since: dayOf(since), until: dayOf(until) };
}

function describeSpan({ since, until }: Span): string {
  const from = since === undefined ? '' : `from ${since.name} on `;
  return until === undefined ? from : `${from}up to ${until.name} `;
}

function renderJson({ by, lines, total }: CostReport, { since, until }: Span, zone: Zone): string {
  const timeZone = zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const days = { since: since?.name ?? null, until: until?.name ?? null, timeZone };
  return toJson({ by, ...days, lines: lines.map(withUsd), total: withUsd(total) });
}

const CSV_COLUMNS = 'calls,open_calls,calls_of_unknown_cost,input_tokens,output_tokens,cost_usd,saved_usd';

/** Renders a report as CSV (RFC 4180), without the total, which a spreadsheet can sum. Amounts are exact. */
export function renderCsv({ by, lines }: CostReport): string {
  const rows = lines.map(({ name, calls, open, unknown, inputTokens, outputTokens, ...line }) => {
    const amounts = [exactUsd(line.nanoUsd), exactUsd(line.savedNanoUsd)];
    return [csvText(name), calls, open, unknown, inputTokens, outputTokens, ...amounts].join(',');
  });
  return [`${by},${CSV_COLUMNS}`, ...rows].map((row) => `${row}\r\n`).join('');
}

/** Quotes a field. Names are untrusted, so formulas are escaped (OWASP, "CSV Injection"). */
function csvText(text: string): string {
  const harmless = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function exactUsd(nanoUsd: number): string {
  const digits = String(BigInt(Math.abs(nanoUsd))).padStart(10, '0');
  return `${nanoUsd < 0 ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

const GAP = '  ';
const NARROWEST_NAME = 16;

/** Renders a report as a table for a terminal: names on the left, wrapped if they are long, and the total below. */
export function renderTable(report: CostReport, paint: Paint, columns = Infinity): string[] {
  const { by, lines, total } = report;
  const least = lines.reduce((min, { nanoUsd }) => (nanoUsd > 0 ? Math.min(min, nanoUsd) : min), 1e9);
  const titles = [by, total.name, ...lines.map(({ name }) => oneLine(name, Infinity))];
  const widest = titles.reduce((max, name) => Math.max(max, widthOf(name)), 0);
  const decimals = decimalsFor(least);
  const sum = cellsOf(total, decimals);
  const head = [by, 'calls', 'input', 'output', 'cost'];
  // No number is longer than that of the total.
  const widths = head.slice(1).map((title, column) => Math.max(title.length, widthOf(sum[column + 1] ?? '')));
  const numbers = widths.reduce((all, width) => all + GAP.length + width, 0);
  const names = Math.min(widest, Math.max(NARROWEST_NAME, columns - numbers));
  const draw = ([name = '', ...cells]: readonly string[]): string[] => {
    const [first = '', ...rest] = wrap([name], names);
    const padded = cells.map((cell, column) => cell.padStart(widths[column] ?? 0));
    return [[first + ' '.repeat(names - widthOf(first)), ...padded].join(GAP), ...rest];
  };
  return [
    ...draw(head).map(paint.faint),
    ...lines.flatMap((line) => draw(cellsOf(line, decimals))),
    paint.faint('─'.repeat(names + numbers)),
    ...draw(sum).map(paint.strong),
    ...explainSavings(total),
    ...explainUnknown(total),
  ];
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

/** Returns enough decimals to show two digits of the smallest amount: from cents to nano-dollars. */
function decimalsFor(leastNanoUsd: number): number {
  const wanted = Math.ceil(-Math.log10(leastNanoUsd / 1e9)) + 1;
  return Math.min(9, Math.max(2, wanted));
}

/** Describes the saving, compared with the price of these tokens without a cache. */
function explainSavings({ nanoUsd, savedNanoUsd }: CostLine): string[] {
  if (savedNanoUsd === 0) return [];
  const saved = Math.abs(savedNanoUsd);
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: decimalsFor(Math.min(1e9, saved)) };
  const amount = `$${(saved / 1e9).toLocaleString('en-US', digits)}`;
  const share = `${((100 * saved) / (nanoUsd + savedNanoUsd)).toFixed(1)} %`;
  const what = savedNanoUsd > 0 ? `saved ${amount}` : `cost ${amount} more than they saved`;
  return ['', `Prompt caches ${what} (${share} of the price without them).`];
}

function explainUnknown({ unknown, open }: CostLine): string[] {
  if (unknown === 0) return [];
  const over = unknown - open;
  return [
    '',
    ...(open > 0 ? [`Unfinished (still running, or the process died): ${counted(open, 'call')}.`] : []),
    ...(over > 0 ? [`Finished at unknown cost (no price, or cut off): ${counted(over, 'call')}.`] : []),
    'Totals that include such calls are lower bounds.',
  ];
}
