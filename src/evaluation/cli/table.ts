import { counted, describeUsd } from '../../trace/describe';
import { widthOf, wrap, wrapFacts } from '../../trace/lines';
import { type Comparison, signed } from '../statistics';
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
  'median time',
  '95 % time',
  'not judged',
] as const;

const NOTHING = '–';

/** The table of a summary, a row for each method: cells as text, without columns in which nothing stands. */
export function tableOf(summary: Summary): readonly (readonly string[])[] {
  const rows = summary.methods.map(rowOf);
  const isFilled = HEAD.map((_, column) => rows.some((row) => row[column] !== NOTHING));
  return [HEAD, ...rows].map((row) => row.filter((_, column) => isFilled[column]));
}

function rowOf(method: MethodSummary): readonly string[] {
  const { score, interval, comparison, usd, tokens, calls, latencyMs, ungraded } = method;
  return [
    method.method,
    score === null ? NOTHING : score.toFixed(3),
    interval === null ? NOTHING : `${interval[0].toFixed(3)}–${interval[1].toFixed(3)}`,
    comparison === null ? NOTHING : signed(comparison.gain),
    comparison === null ? NOTHING : describeChance(comparison.p),
    comparison === null ? NOTHING : describeSmallest(comparison),
    usd === null ? 'unknown' : describeUsd(usd),
    Math.round(tokens).toLocaleString('en-US'),
    calls.toFixed(1),
    seconds(latencyMs.median),
    seconds(latencyMs.p95),
    String(ungraded),
  ];
}

export function describeChance(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** Scores differ by at most 1. */
function describeSmallest({ smallestGain }: Comparison): string {
  return smallestGain === null || smallestGain >= 1 ? 'none' : smallestGain.toFixed(3);
}

/** Compares one method with another in a sentence. @param whom describes the other one */
export function compareSentence(one: string, comparison: Comparison, whom: string): string {
  const { against, gain, interval, p, pairs } = comparison;
  const [low, high] = interval;
  const found =
    `${one} against ${against}${whom}: ${signed(gain)}, between ${signed(low)} and ` +
    `${signed(high)}, p ${describeChance(p)}`;
  if (p < 0.05) return `${found}.`;
  const smallest = describeSmallest(comparison);
  const questions = counted(pairs, 'question');
  return smallest === 'none'
    ? `${found}. No difference was found; ${questions} are too few to find any.`
    : `${found}. No difference was found; with ${questions} only one of ${smallest} or more would have shown.`;
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

/**
 * For a terminal: where the table is too wide for it, several with the same first column; where not even one more column
 * fits beside that, a paragraph for each row.
 *
 * @param columns undefined: no terminal
 */
export function shownTable(rows: readonly (readonly string[])[], columns = Infinity): string {
  const fits = (picked: readonly number[]): boolean =>
    plainTable(pick(rows, picked))
      .split('\n')
      .every((line) => widthOf(line) <= columns);
  const tables: number[][] = [];
  for (const column of rows[0]?.slice(1).keys() ?? []) {
    const last = tables.at(-1);
    if (last !== undefined && fits([...last, column + 1])) last.push(column + 1);
    else tables.push([0, column + 1]);
  }
  if (tables.every(fits)) return tables.map((picked) => plainTable(pick(rows, picked))).join('\n\n');
  const [head = [], ...methods] = rows;
  return methods.flatMap((row) => paragraphOf(head, row, columns)).join('\n');
}

function pick(rows: readonly (readonly string[])[], columns: readonly number[]): string[][] {
  return rows.map((row) => columns.map((column) => row[column] ?? ''));
}

const INDENT = 2;

/** Its first cell is its name; the others stand below, each beside the head of its column. */
function paragraphOf(
  head: readonly string[],
  [name = '', ...cells]: readonly string[],
  columns: number,
): string[] {
  const facts = cells.flatMap((cell, column) =>
    cell === NOTHING ? [] : [`${head[column + 1] ?? ''} ${cell}`],
  );
  const below = wrapFacts(facts, columns - INDENT).map((line) => ' '.repeat(INDENT) + line);
  return [...wrap([name], columns), ...below];
}

function plainTable(rows: readonly (readonly string[])[]): string {
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
