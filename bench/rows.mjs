/** A row of the first table: a figure beside its targets; `atLeast` where more is better. */
export function rate(what, value, aim) {
  return [what, aim.show?.(value) ?? String(value), ...verdict(value, aim)];
}

/** A row of the first table without targets. */
export const note = (what, shown) => [what, shown, '', '', ''];

/**
 * A row of the second table: one figure of the plain program, of LangGraph.js and of a solve. What was not measured is a
 * dash; targets, if any, are for the solve.
 */
export function compare(what, { plain, langGraph, solve }, { show, showPlain = show, ...aim }) {
  const cell = (value, shown) => (Number.isFinite(value) ? shown(value) : '–');
  const cells = [cell(plain, showPlain), cell(langGraph, show), cell(solve, show)];
  return [what, ...cells, ...(aim.good === undefined ? ['', '', ''] : verdict(solve, { show, ...aim }))];
}

/** A table in Markdown, its rows as they come. */
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
