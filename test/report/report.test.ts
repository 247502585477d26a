import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { curvesChart } from '../../src/report/curves-chart';
import { drawCharts } from '../../src/report/chart';
import { renderHtml, renderReportMarkdown, type Report, writeReport } from '../../src/report/report';
import { scoreCostChart, sharesChart } from '../../src/evaluation/report/score-charts';
import { freshFolder } from '../local/fresh-folder';

const HOSTILE = [
  '</script><script>alert(1)</script>',
  ']]></style><img src=http://evil.example/x onerror=alert(1)>',
  '"><svg onload=alert(1)> | `x` \u0000\u202e\n{a}{b|c}',
  'x'.repeat(400_000),
];

/** Returns a report in which every text comes from a stranger. */
async function hostileReport(): Promise<Report> {
  const [name = ''] = HOSTILE;
  const heading = { title: name, subtitle: HOSTILE.join(' ') };
  const scored = { usd: 1, tokens: 1, score: 0.5, interval: [0, 1] as const };
  const panel = { form: 'lines', format: String } as const;
  const pictures = await drawCharts([
    scoreCostChart(
      heading,
      HOSTILE.map((method) => ({ method, ...scored })),
    ),
    sharesChart(
      'shares',
      heading,
      HOSTILE.map((part) => [part, part]),
      HOSTILE.map((method) => ({ method, shares: Object.fromEntries(HOSTILE.map((part) => [part, 0.25])) })),
    ),
    curvesChart({
      ...heading,
      file: 'curves',
      cycles: [1, 2],
      nightStarts: [2],
      panels: HOSTILE.map((title) => ({
        ...panel,
        title,
        note: title,
        curves: [{ name: title, values: [1, 2] }],
      })),
    }),
  ]);
  const rows = [['method', 'score'], ...HOSTILE.map((each) => [each, each])];
  return { title: name, parts: [...HOSTILE, { rows, numeric: true }, ...pictures] };
}

test('foreign names stay text of a readable length, in the page and in Markdown', async () => {
  const report = await hostileReport();
  const html = renderHtml(report);
  expect(html).toContain('&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;');
  const tags = new Set([...html.matchAll(/<\/?([a-z][\w-]*)/gi)].map(([, tag = '']) => tag.toLowerCase()));
  for (const tag of ['script', 'img', 'iframe', 'object', 'image', 'use', 'foreignobject']) {
    expect(tags).not.toContain(tag);
  }
  expect(html.match(/<[a-z][^>]*\son\w+=/gi)).toBeNull();
  for (const unseen of ['\u0000', '\u202e']) expect(html).not.toContain(unseen);
  expect(html.length).toBeLessThan(300_000);
  const markdown = renderReportMarkdown(report);
  expect(markdown).not.toMatch(/(?<!\\)<[a-z/]/i);
  const cells = markdown.split('\n').filter((line) => line.startsWith('| '));
  expect(cells.map((line) => line.match(/(?<!\\)\|/g)?.length)).toEqual(cells.map(() => 3));
});

test('the page requests nothing from any server, and forbids it', async () => {
  const html = renderHtml(await hostileReport());
  expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  const own = html.replace(/xmlns(:\w+)?="[^"]*"/g, '').replace(/<(text|p|td|h1|title)\b[^>]*>[^<]*/g, '');
  expect(own).not.toMatch(/https?:|\bsrc=|href=|@import|url\((?!#)/);
});

test('a report is a page and a Markdown text with the same content, beside its pictures', async () => {
  const folder = await freshFolder();
  const heading = { title: 'Score', subtitle: '' };
  const router = { method: 'router', usd: 1, tokens: 1, score: 0.5, interval: [0.4, 0.6] as const };
  const pictures = await drawCharts([scoreCostChart(heading, [router])]);
  const table = {
    rows: [
      ['method', 'score'],
      ['router', '0.500'],
    ],
    numeric: true,
  };
  await writeReport({ title: 'One', parts: ['p < 0.001', table, ...pictures] }, join(folder, 'out'));
  expect((await readdir(join(folder, 'out'))).sort()).toEqual(['report.html', 'report.md', 'score-cost.svg']);
  expect(await readFile(join(folder, 'out', 'report.md'), 'utf8')).toBe(
    '# One\n\np < 0.001\n\n| method | score |\n| --- | ---: |\n| router | 0.500 |\n\n![score-cost.svg](score-cost.svg)\n',
  );
  const html = await readFile(join(folder, 'out', 'report.html'), 'utf8');
  expect(html).toContain('<td>router</td><td>0.500</td>');
  expect(html).toContain(await readFile(join(folder, 'out', 'score-cost.svg'), 'utf8'));
});

test('a curve without a name is drawn, and omitted from the legend', () => {
  const panel = { title: 'score', note: 'by cycle', form: 'lines', format: String } as const;
  const curves = [
    { name: 'mean', values: [1, 2], colour: '#123456' },
    { name: '', values: [1, 4], colour: '#654321' },
  ];
  const chart = curvesChart({
    ...{ file: 'curves', title: 'title', subtitle: 'subtitle' },
    ...{ cycles: [1, 2], nightStarts: [], panels: [{ ...panel, curves }] },
  });
  expect(chart.option.series).toHaveLength(2);
  expect(chart.option.legend).toEqual([
    expect.objectContaining({ data: [expect.stringMatching(/mean 2$/)] }),
  ]);
});
