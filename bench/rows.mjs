/** Returns a row of the first table: a figure and its targets; `atLeast` if more is better. */
export function rate(what, value, aim) {
  return [what, aim.show?.(value) ?? String(value), ...verdict(value, aim)];
}

/** Returns a row of the first table without targets. */
export const note = (what, shown) => [what, shown, '', '', ''];

/**
 * Returns a row of the second table: each program's figure, and the solve's as a multiple of bare Temporal's. A dash
 * marks a missing figure. `aims` are targets for the solve's figure (`solve`) or that multiple (`toBare`).
 */
export function compare(
  what,
  { plain, langGraph, bare, solve },
  { show, showPlain = show, toBare, aims = {} },
) {
  const cell = (value, shown) => (Number.isFinite(value) ? shown(value) : '–');
  const multiple = toBare(solve, bare);
  const cells = [cell(plain, showPlain), cell(langGraph, show), cell(bare, show), cell(solve, show)];
  const held = [
    { value: solve, aim: aims.solve, shown: show },
    { value: multiple, aim: aims.toBare, shown: times },
  ].filter(({ aim }) => aim !== undefined);
  const isMet = held.every(({ value, aim }) => (aims.atLeast ? value >= aim : value <= aim));
  const aim = held.map(({ aim, shown }) => `${aims.atLeast ? '≥' : '≤'} ${shown(aim)}`).join(' and ');
  const verdict = held.length === 0 ? '' : isMet ? 'met' : 'missed';
  return [what, ...cells, cell(multiple, times), aim, verdict];
}

/** Formats a multiple. */
export const times = (multiple) => `× ${multiple.toFixed(2)}`;

/** Prints a Markdown table; each part's rows appear as soon as they are measured. */
export async function printTable(columns, parts) {
  const print = (cells) => console.log(`| ${cells.join(' | ')} |`);
  print(columns);
  print(columns.map(() => '---'));
  for (const measure of parts) for (const row of await measure()) print(row);
  console.log();
}

function verdict(value, { good, excellent, show = String, atLeast = false }) {
  const meets = (target) => (atLeast ? value >= target : value <= target);
  const sign = atLeast ? '≥' : '≤';
  const judged = meets(excellent) ? 'excellent' : meets(good) ? 'good' : 'missed';
  return [`${sign} ${show(good)}`, `${sign} ${show(excellent)}`, judged];
}
