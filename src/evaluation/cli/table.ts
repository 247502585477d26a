import { counted, describeUsd } from '../../trace/describe';
import { widthOf, wrap, wrapFacts } from '../../trace/lines';
import { type Comparison, signed } from '../statistics';
import type { MethodSummary, Summary } from '../summarize';

const NOTHING = '–';

const COLUMNS: Readonly<Record<string, (method: MethodSummary) => string>> = {
  method: ({ method }) => method,
  score: ({ score }) => score?.toFixed(3) ?? NOTHING,
  '95 % interval': ({ interval }) => interval?.map((bound) => bound.toFixed(3)).join('–') ?? NOTHING,
  difference: ({ comparison }) => (comparison === null ? NOTHING : signed(comparison.gain)),
  p: ({ comparison }) => (comparison === null ? NOTHING : describeChance(comparison.p)),
  'could find': ({ comparison }) => (comparison === null ? NOTHING : describeSmallest(comparison)),
  USD: ({ usd }) => (usd === null ? 'unknown' : describeUsd(usd)),
  tokens: ({ tokens }) => Math.round(tokens).toLocaleString('en-US'),
  calls: ({ calls }) => calls.toFixed(1),
  'median time': ({ latencyMs }) => seconds(latencyMs.median),
  '95 % time': ({ latencyMs }) => seconds(latencyMs.p95),
  'not judged': ({ ungraded }) => String(ungraded),
};

/** The table of a summary, a row for each method: cells as text, without columns in which nothing stands. */
export function tableOf({ methods }: Summary): readonly (readonly string[])[] {
  const columns = Object.entries(COLUMNS)
    .map(([head, cellOf]) => [head, ...methods.map(cellOf)])
    .filter(([, ...cells]) => cells.some((cell) => cell !== NOTHING));
  return ['', ...methods].map((_, row) => columns.map((column) => column[row] ?? ''));
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

const INDENT = 2;

/**
 * For a terminal. Where the table is too wide for it, a paragraph for each row: its first cell, and below it the others,
 * each beside the head of its column.
 *
 * @param columns undefined: no terminal
 */
export function shownTable(rows: readonly (readonly string[])[], columns = Infinity): string {
  const [head = [], ...methods] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  const padded = (cell: string, column: number): string => {
    const gap = ' '.repeat((widths[column] ?? 0) - widthOf(cell));
    return column === 0 ? cell + gap : gap + cell;
  };
  const lines = rows.map((row) => row.map(padded).join('  ').trimEnd());
  if (lines.every((line) => widthOf(line) <= columns)) return lines.join('\n');
  const paragraphs = methods.flatMap(([name = '', ...cells]) => {
    const facts = cells.map((cell, column) => cell !== NOTHING && `${head[column + 1] ?? ''} ${cell}`);
    const below = wrapFacts(facts, columns - INDENT).map((line) => ' '.repeat(INDENT) + line);
    return [...wrap([name], columns), ...below];
  });
  return paragraphs.join('\n');
}
