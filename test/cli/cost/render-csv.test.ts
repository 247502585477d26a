import { renderCsv } from '../../../src/cli/commands/cost';
import type { CostLine } from '../../../src/store/store';

const LINE: CostLine = {
  name: 'm-1',
  calls: 3,
  open: 1,
  unknown: 2,
  inputTokens: 1000,
  outputTokens: 50,
  nanoUsd: 1_234_567_890_123,
  savedNanoUsd: -5,
};

const csv = (...lines: CostLine[]): string => renderCsv({ by: 'model', lines, total: LINE });

test('a header, a line each group, and none for the sum; amounts to the nano-dollar', () => {
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
])('the name %p is written %p', (name, cell) => {
  const [, line] = csv({ ...LINE, name }).split('\r\n');
  expect(line?.startsWith(`${cell},3,`)).toBe(true);
});
