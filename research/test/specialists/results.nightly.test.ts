import { join } from 'node:path';
import { readMeasured } from '../../specialists/baselines';
import { reportSeeds } from '../../specialists/report';
import { readSeeds } from '../../specialists/seed';
import type { Report } from '../../../src/report/report';
import { readPage, ROOT } from '../../../test/newcomer/pages';

const RESULTS = join(ROOT, 'research/specialists/results');
const PAGE = 'docs/results/specialists.md';

/** Returns the rows of a page's tables, their cells joined by `|`. */
function cellsOf(page: string): string[] {
  const lines = page.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) => rowOf(line.split('|').slice(1, -1)));
}

const rowOf = (cells: readonly string[]): string => cells.map((cell) => cell.trim()).join('|');

function linesOf(part: Report['parts'][number]): string[] {
  if (typeof part === 'string') return [part];
  return 'rows' in part ? part.rows.map(rowOf) : [];
}

test(`${PAGE} shows the figures computed from the kept results`, async () => {
  const { abilities, baselines } = await readMeasured(RESULTS);
  const report = await reportSeeds(abilities, baselines, await readSeeds(RESULTS));
  const page = readPage(PAGE);
  const words = page.replace(/\s+/g, ' ');
  const rows = cellsOf(page);
  for (const line of report.parts.flatMap(linesOf)) {
    if (line.includes('|')) expect(rows).toContain(line);
    else if (/^(On|Holds|Does not hold|Not known)/.test(line)) expect(words).toContain(line);
  }
});
