import { describeUsd } from '../../trace/describe';
import type { Comparison } from '../compare';
import type { MethodSummary, Summary } from '../summarize';

const HEAD = [
  'method',
  'score',
  '95 % interval',
  'difference',
  'p',
  'could find',
  'USD',
  'tokens',
  'calls',
  'median',
  '95 %',
  'not judged',
] as const;

/** The table of a summary, a row for each method: cells as text. */
export function tableOf(summary: Summary): readonly (readonly string[])[] {
  return [HEAD, ...summary.methods.map(rowOf)];
}

function rowOf(method: MethodSummary): readonly string[] {
  const { score, interval, comparison, usd, tokens, calls, latencyMs, ungraded } = method;
  return [
    method.method,
    score === null ? '–' : score.toFixed(3),
    interval === null ? '–' : `${interval[0].toFixed(3)}–${interval[1].toFixed(3)}`,
    comparison === null ? '–' : signed(comparison.gain),
    comparison === null ? '–' : describeP(comparison),
    comparison === null ? '–' : describeSmallest(comparison),
    usd === null ? 'unknown' : describeUsd(usd),
    Math.round(tokens).toLocaleString('en-US'),
    calls.toFixed(1),
    seconds(latencyMs.median),
    seconds(latencyMs.p95),
    String(ungraded),
  ];
}

export function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

export function describeP({ p }: Comparison): string {
  return describeChance(p);
}

export function describeChance(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** Scores differ by 1 at most. */
export function describeSmallest({ smallestGain }: Comparison): string {
  return smallestGain === null || smallestGain >= 1 ? 'none' : smallestGain.toFixed(3);
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/** For a terminal: columns of equal width. */
export function plainTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}

export function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)].join(
    '\n',
  );
}
