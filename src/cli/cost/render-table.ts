import type { CostLine, CostReport } from '../../ledger/sum-costs';
import { counted } from '../../trace/counted';
import { oneLine, widthOf } from '../../trace/one-line';
import type { Paint } from '../../trace/paint';

/** The widest name shown. Whole names are in the CSV and JSON. */
const WIDEST_NAME = 48;

const GAP = '  ';

/** A report as a table for a terminal: names to the left, numbers to the right, the sum below. */
export function renderTable({ by, lines, total }: CostReport, paint: Paint): string {
  const decimals = decimalsFor([...lines, total]);
  const head = [by, 'calls', 'input', 'output', 'cost'];
  const body = [...lines, total].map((line) => cellsOf(line, decimals));
  const widths = head.map((_, column) =>
    Math.max(...[head, ...body].map((cells) => widthOf(cells[column] ?? ''))),
  );
  const [first = 0, ...others] = widths;
  const draw = ([name = '', ...numbers]: readonly string[]): string =>
    [
      name + ' '.repeat(first - widthOf(name)),
      ...numbers.map((cell, column) => cell.padStart(others[column] ?? 0)),
    ].join(GAP);
  const rule = '─'.repeat(widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length));
  return [
    paint.faint(draw(head)),
    ...body.slice(0, -1).map(draw),
    paint.faint(rule),
    paint.strong(draw(body.at(-1) ?? [])),
    ...explain(total),
  ].join('\n');
}

function cellsOf(
  { name, calls, inputTokens, outputTokens, nanoUsd, unknown }: CostLine,
  decimals: number,
): string[] {
  const dollars = `$${usd(nanoUsd, decimals)}`;
  return [
    oneLine(name, WIDEST_NAME),
    ...[calls, inputTokens, outputTokens].map((count) => count.toLocaleString('en-US')),
    unknown === 0 ? dollars : `at least ${dollars}`,
  ];
}

/** As many decimals for all as show two digits of the least amount: cents at the fewest, nano-dollars at the most. */
function decimalsFor(lines: readonly CostLine[]): number {
  const amounts = lines.map(({ nanoUsd }) => nanoUsd / 1e9).filter((amount) => amount > 0);
  const wanted = Math.ceil(-Math.log10(Math.min(1, ...amounts))) + 1;
  return Math.min(9, Math.max(2, wanted));
}

function usd(nanoUsd: number, decimals: number): string {
  return (nanoUsd / 1e9).toLocaleString('en-US', {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

/** Why a sum is a lower bound. */
function explain({ unknown, open }: CostLine): string[] {
  if (unknown === 0) return [];
  const ended = unknown - open;
  const reasons = [
    ...(open > 0 ? [`Not over (under way, or its process died): ${counted(open, 'call')}.`] : []),
    ...(ended > 0
      ? [`Over at an unknown cost (no price, or cut off in the middle): ${counted(ended, 'call')}.`]
      : []),
  ];
  return ['', ...reasons, 'Sums with such calls say the least that was spent.'];
}
