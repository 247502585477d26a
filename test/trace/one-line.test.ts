import { oneLine, widthOf } from '../../src/trace/lines';

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

  test('escape sequences and turned writing directions do not reach a terminal', () => {
    expect(oneLine('a\u001b[2Jb\u0007c\u202Ed\u009b31m', 80)).toBe('a [2Jb c d 31m');
  });

  test('a text of megabytes is not walked through', () => {
    expect(oneLine('x'.repeat(5_000_000), 10)).toBe('xxxxxxxxx…');
  });
});
