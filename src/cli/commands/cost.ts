import { withoutPassword } from '../../config/store-url';
import { configuredKeys } from '../../encryption/key-ring';
import {
  type CostGroup,
  type CostQuery,
  type CostReport,
  readDay,
  sumCosts,
  type Zone,
} from '../../store/costs';
import type { CostLine, Day } from '../../store/store';
import { openStore } from '../../store/open-store';
import { counted } from '../../trace/describe';
import { oneLine, type Paint, widthOf, wrap } from '../../trace/lines';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { loadSettings, type WorkOptions } from '../load-settings';
import { columnsOf, paintFor, print, say, toJson } from '../terminal';

interface CostOptions extends WorkOptions {
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
  const config = await loadSettings(options);
  const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
  const report = await sumCosts(store, { by: options.by, zone, ...span }, (count) => {
    if (count === ROWS_IN_SILENCE)
      say(`The ledger has more than ${count.toLocaleString('en-US')} rows: reading on …`);
  });
  if (options.json) await printLines(renderJson(report, span, zone));
  else if (options.csv) await printLines(renderCsv(report));
  else if (report.lines.length === 0)
    say(`No calls ${describeSpan(span)}in the ledger of ${withoutPassword(config.store)}.`);
  else {
    const table = renderTable(report, paintFor(process.stdout), columnsOf(process.stdout));
    await printLines(table, { painted: true });
  }
  return EXIT.answered;
}

/** A workflow is a line, so a report may be longer than a string can be. */
async function printLines(lines: Iterable<string>, options?: { painted: boolean }): Promise<void> {
  let waiting: string[] = [];
  const flush = async (): Promise<void> => {
    if (waiting.length > 0) await print(`${waiting.join('\n')}\n`, options);
    waiting = [];
  };
  for (const line of lines) if (waiting.push(line) === 1000) await flush();
  await flush();
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

function* renderJson(
  { by, lines, total }: CostReport,
  { since, until }: Span,
  zone: Zone,
): Generator<string> {
  const timeZone = zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const head = { by, since: since?.name ?? null, until: until?.name ?? null, timeZone };
  const indented = (line: CostLine, gap: string): string =>
    toJson(withUsd(line)).replaceAll('\n', `\n${gap}`);
  yield `${toJson(head).slice(0, -2)},\n  "lines": [`;
  for (const [index, line] of lines.entries())
    yield `    ${indented(line, '    ')}${index < lines.length - 1 ? ',' : ''}`;
  yield `  ],\n  "total": ${indented(total, '  ')}\n}`;
}

interface LineInUsd extends CostLine {
  readonly costUsd: number;
  readonly costIsLowerBound: boolean;
  readonly savedUsd: number;
}

function withUsd(line: CostLine): LineInUsd {
  const { name, ...sums } = line;
  const { nanoUsd, savedNanoUsd, unknown } = sums;
  const amounts = { costUsd: nanoUsd / 1e9, costIsLowerBound: unknown > 0, savedUsd: savedNanoUsd / 1e9 };
  // In one order, whatever the store.
  return { name, ...sums, ...amounts };
}

/**
 * A report as CSV (RFC 4180), record by record, without the sum, which a spreadsheet makes itself. Amounts are exact.
 * Each record ends in `\r`; `\n` is added where it is printed.
 */
export function* renderCsv({ by, lines }: CostReport): Generator<string> {
  const columns: Readonly<Record<string, (line: CostLine) => string | number>> = {
    [by]: ({ name }) => csvText(name),
    calls: ({ calls }) => calls,
    open_calls: ({ open }) => open,
    calls_of_unknown_cost: ({ unknown }) => unknown,
    input_tokens: ({ inputTokens }) => inputTokens,
    output_tokens: ({ outputTokens }) => outputTokens,
    cost_usd: ({ nanoUsd }) => exactUsd(nanoUsd),
    saved_usd: ({ savedNanoUsd }) => exactUsd(savedNanoUsd),
  };
  yield `${Object.keys(columns).join(',')}\r`;
  for (const line of lines)
    yield `${Object.values(columns)
      .map((cellOf) => cellOf(line))
      .join(',')}\r`;
}

/** Names come from anyone, so formulas are escaped (OWASP, "CSV Injection"). */
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

/** A report as a table for a terminal: names to the left, in several lines where they are long, the sum below. */
export function* renderTable(report: CostReport, paint: Paint, columns = Infinity): Generator<string> {
  const { lines, total } = report;
  let [widest, least] = [Math.max(report.by.length, total.name.length), 1e9];
  for (const { name, nanoUsd } of lines) {
    widest = Math.max(widest, widthOf(oneLine(name, Infinity)));
    if (nanoUsd > 0) least = Math.min(least, nanoUsd);
  }
  const decimals = decimalsFor(least);
  const head = [report.by, 'calls', 'input', 'output', 'cost'];
  const sum = cellsOf(total, decimals);
  // No number is longer than that of the sum.
  const others = head.slice(1).map((title, column) => Math.max(title.length, widthOf(sum[column + 1] ?? '')));
  const room = others.reduce((left, width) => left - width - GAP.length, columns);
  const names = Math.min(widest, Math.max(NARROWEST_NAME, room));
  const draw = ([name = '', ...numbers]: readonly string[]): string[] => {
    const [first = '', ...rest] = wrap([name], names);
    const cells = numbers.map((cell, column) => cell.padStart(others[column] ?? 0));
    return [[first + ' '.repeat(names - widthOf(first)), ...cells].join(GAP), ...rest];
  };
  yield* draw(head).map(paint.faint);
  for (const line of lines) yield* draw(cellsOf(line, decimals));
  yield paint.faint('─'.repeat(others.reduce((all, width) => all + GAP.length + width, names)));
  yield* draw(sum).map(paint.strong);
  yield* [...explainSavings(total), ...explainUnknown(total)];
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

/** Enough decimals to show two digits of the least amount, a dollar at most: from cents to nano-dollars. */
function decimalsFor(leastNanoUsd: number): number {
  const wanted = Math.ceil(-Math.log10(leastNanoUsd / 1e9)) + 1;
  return Math.min(9, Math.max(2, wanted));
}

/** Compared with the price of these tokens without a cache. */
function explainSavings({ nanoUsd, savedNanoUsd }: CostLine): string[] {
  if (savedNanoUsd === 0) return [];
  const amount = `$${(Math.abs(savedNanoUsd) / 1e9).toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: decimalsFor(Math.min(1e9, Math.abs(savedNanoUsd))),
  })}`;
  const share = `${((100 * Math.abs(savedNanoUsd)) / (nanoUsd + savedNanoUsd)).toFixed(1)} %`;
  const what = savedNanoUsd > 0 ? `saved ${amount}` : `cost ${amount} more than they saved`;
  return ['', `Prompt caches ${what} (${share} of the price without them).`];
}

function explainUnknown({ unknown, open }: CostLine): string[] {
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
