import { describeDuration, describeSees, describeUsd, stepStateOf } from '../../src/trace/describe';
import { oneLine, widthOf } from '../../src/trace/lines';
import { at, sampleStep } from './sample-trace';

test.each([
  [0.85, '850 ms'],
  [3.24, '3.2 s'],
  [59.94, '59.9 s'],
  [59.96, '1 min 0 s'],
  [64, '1 min 4 s'],
  [3600, '60 min 0 s'],
  [7199.6, '2 h 0 min'],
  [63_005, '17 h 30 min'],
])('%s seconds read as %s', (seconds, expected) => {
  expect(describeDuration(at(0), at(seconds))).toBe(expected);
});

test('an ongoing duration is measured until now, and is never negative under clock skew', () => {
  expect(describeDuration(at(0), null, at(2))).toBe('2.0 s');
  expect(describeDuration(at(1), null, at(0))).toBe('0 ms');
});

test('a step with the output of an earlier run counts as done', () => {
  expect(stepStateOf(sampleStep(0, { startedAt: null, output: 'Paris.' }))).toBe('done');
  expect(stepStateOf(sampleStep(0, { startedAt: null }))).toBe('waiting');
});

test('steps are numbered from 1 for people', () => {
  expect(describeSees([0, 2])).toBe('sees 1, 3');
  expect(describeSees([])).toBe('');
});

test.each([
  [0, '$0.00'],
  [0.0000004, '$0.00000040'],
  [0.000024, '$0.000024'],
  [0.00012, '$0.0001'],
  [0.0128, '$0.0128'],
  [1.5, '$1.50'],
])('%d USD is shown as %s, so that nothing paid looks free', (usd, shown) => {
  expect(describeUsd(usd)).toBe(shown);
});

describe('a text as one line', () => {
  test.each([
    ['short', 'as it is', 20, 'as it is'],
    ['line breaks and runs of space', ' two\r\n\n lines\t here ', 20, 'two lines here'],
    ['exactly as wide as there is room', '12345', 5, '12345'],
    ['too wide', '123456', 5, '1234…'],
    ['no space before the ellipsis', 'one two', 5, 'one…'],
    ['wide characters count double', '日本語です', 6, '日本…'],
    ['an emoji of several code points is never cut', 'ab👩‍👩‍👧cd', 5, 'ab👩‍👩‍👧…'],
    ['no room at all', 'text', 0, ''],
  ])('%s', (_, text, columns, expected) => {
    expect(oneLine(text, columns)).toBe(expected);
    expect(widthOf(oneLine(text, columns))).toBeLessThanOrEqual(columns);
  });

  test('escape sequences and changes of writing direction do not reach a terminal', () => {
    expect(oneLine('a\u001b[2Jb\u0007c\u202Ed\u009b31m', 80)).toBe('a [2Jb c d 31m');
  });

  test('a text of several megabytes is not scanned whole', () => {
    expect(oneLine('x'.repeat(5_000_000), 10)).toBe('xxxxxxxxx…');
  });
});
