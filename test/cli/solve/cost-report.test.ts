import { renderCsv, renderTable } from '../../../src/cli/solve/cost';
import type { CostLine } from '../../../src/store/store';
import { PLAIN, widthOf } from '../../../src/trace/lines';

const NOTHING = {
  calls: 0,
  open: 0,
  unknown: 0,
  inputTokens: 0,
  outputTokens: 0,
  nanoUsd: 0,
  savedNanoUsd: 0,
};
const FIGURES = Object.keys(NOTHING) as (keyof typeof NOTHING)[];

function aLine(changes: Partial<CostLine>): CostLine {
  return { ...NOTHING, name: 'ada', calls: 1, inputTokens: 10, outputTokens: 5, ...changes };
}

function table(lines: CostLine[], by: 'worker' | 'workflow' = 'worker', columns?: number): string[] {
  const total = { ...NOTHING, name: 'total' };
  for (const line of lines) for (const figure of FIGURES) total[figure] += line[figure];
  return renderTable({ by, lines, total }, PLAIN, columns);
}

test('aligns names left and numbers right, with the total below', () => {
  const lines = [
    aLine({ name: 'conductor', calls: 1204, inputTokens: 1_000_000, nanoUsd: 1_234_500_000 }),
    aLine({ nanoUsd: 60_000_000 }),
  ];
  expect(table(lines)).toEqual([
    'worker     calls      input  output    cost',
    'conductor  1,204  1,000,000       5  $1.235',
    'ada            1         10       5  $0.060',
    '───────────────────────────────────────────',
    'total      1,205  1,000,010      10  $1.295',
  ]);
});

test.each([
  [1_000_000_000, '$1.00'],
  [10_000_000, '$0.010'],
  [300_000, '$0.00030'],
  [12, '$0.000000012'],
  [0, '$0.00'],
])('%d nano-USD are shown with at least two digits: %s', (nanoUsd, shown) => {
  const [, line] = table([aLine({ nanoUsd })]);
  expect(line?.endsWith(`  ${shown}`)).toBe(true);
});

test('an unknown cost makes a sum a lower bound, and is explained', () => {
  const lines = [aLine({ nanoUsd: 5_000_000_000 }), aLine({ name: 'bob', calls: 3, open: 1, unknown: 3 })];
  const [, ada, bob, , total, , ...why] = table(lines);
  expect(ada).toMatch(/ {2}\$5\.00$/);
  expect(bob).toMatch(/at least \$0\.00$/);
  expect(total).toMatch(/at least \$5\.00$/);
  expect(why).toEqual([
    'Unfinished (still running, or the process died): 1 call.',
    'Finished at unknown cost (no price, or cut off): 2 calls.',
    'Totals that include such calls are lower bounds.',
  ]);
});

test.each([60, 80, 120])(
  'nothing is cut: in %i columns, a long name continues on the next line',
  (columns) => {
    const name = `solve-${'what-is-the-capital-of-france-'.repeat(4)}7kq2m9xw`;
    const lines = table([aLine({ name })], 'workflow', columns);
    expect(lines.map(widthOf).every((width) => width <= columns)).toBe(true);
    expect(
      lines
        .slice(1, -2)
        .map((line) => line.split(' ')[0])
        .join(''),
    ).toBe(name);
  },
);

test.each([
  [250_000_000, 'Prompt caches saved $0.25 (20.0 % of the price without them).'],
  [-250_000_000, 'Prompt caches cost $0.25 more than they saved (33.3 % of the price without them).'],
])('savings of %d nano-USD by prompt caches are reported below the table', (savedNanoUsd, sentence) => {
  expect(table([aLine({ nanoUsd: 1_000_000_000, savedNanoUsd })]).slice(-2)).toEqual(['', sentence]);
});

test('a name cannot control the terminal', () => {
  expect(table([aLine({ name: 'a\u001b[2Jb\n' })])[1]).toMatch(/^a \[2Jb {2,}1 /);
});

const LINE = aLine({
  name: 'm-1',
  calls: 3,
  open: 1,
  unknown: 2,
  inputTokens: 1000,
  outputTokens: 50,
  nanoUsd: 1_234_567_890_123,
  savedNanoUsd: -5,
});

const csv = (...lines: CostLine[]): string => renderCsv({ by: 'model', lines, total: LINE });

test('CSV has a header, a line for each group, no total, and amounts to the nano-dollar', () => {
  expect(csv(LINE, { ...LINE, name: 'm-2', nanoUsd: 7 })).toBe(
    'model,calls,open_calls,calls_of_unknown_cost,input_tokens,output_tokens,cost_usd,saved_usd\r\n' +
      'm-1,3,1,2,1000,50,1234.567890123,-0.000000005\r\n' +
      'm-2,3,1,2,1000,50,0.000000007,-0.000000005\r\n',
  );
  expect(csv().split('\r\n')).toHaveLength(2);
});

test.each([
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['=A1,"x"', '"\'=A1,""x"""'],
  ['two\rlines', '"two\rlines"'],
  ['\tx', "'\tx"],
  ['openai/gpt-oss-20b', 'openai/gpt-oss-20b'],
])('CSV writes the name %p as %p', (name, cell) => {
  const [, line] = csv({ ...LINE, name }).split('\r\n');
  expect(line?.startsWith(`${cell},3,`)).toBe(true);
});
