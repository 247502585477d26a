import { isSameOutput, isSameValue } from '../../../src/grading/code/compare-output';
import { codeIn, gradeCode } from '../../../src/grading/code/grade-code';
import { SUM } from './fenced';

test.each([
  ['1\n2', ' 1 \n2\n\n', true],
  ['0.5 x', '0.50 x', false],
  ['0.5 100', '.50 1e2', true],
  ['0.1', '0.10000000000000000001', false],
  ['-0', '0', true],
  ['1 2', '1\n2', false],
  ['YES', 'yes', false],
  ['9007199254740993', '9007199254740992', false],
  ['1e5', '100000.000', true],
])('%j printed as %j: %s', (right, printed, isSame) => {
  expect(isSameOutput(right, printed)).toBe(isSame);
});

test.each([
  ['[1, 2.50, true]', '[1.0,2.5,1]', true],
  ['9007199254740993', '9007199254740992', false],
  ['{"a": 1, "b": null}', '{"b":null,"a":1}', true],
  ['{"a": 1}', '{"a":1,"b":2}', false],
  ['"1"', '1', false],
  ['"n1"', '1', false],
  ['[]', '{}', false],
  ['[0]', '[-0]', true],
  ['[[1], [2]]', '[[1], [3]]', false],
  ['null', '', false],
  ['"a\\u00e9"', '"aé"', true],
])('%s returned as %s: %s', (right, returned, isSame) => {
  expect(isSameValue(right, returned)).toBe(isSame);
});

test.each([
  ['the last block', '```\na\n```\nor\n```python\nb\nc\n```\ndone', 'b\nc'],
  ['what is tagged as the answer', 'I try:\n```\na\n```\n<answer>\n```py\nb\n```\n</answer>', 'b'],
  ['an answer without a fence', 'So: <answer>print(1)</answer>', 'print(1)'],
  ['no block', 'print(1)', null],
  ['a block that never ends', 'So:\n```python\nprint(1)', null],
])('code is read from %s', (_, reply, code) => {
  expect(codeIn(reply)).toBe(code);
});

test('a reply without code is unparseable, and needs no sandbox', async () => {
  expect(await gradeCode(SUM, 'I cannot.')).toMatchObject({ verdict: 'unparseable', extracted: null });
});
