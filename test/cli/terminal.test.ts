import { columnsOf, paintFor } from '../../src/cli/kit/terminal';
import { PLAIN } from '../../src/trace/lines';

const TERMINAL = { isTTY: true, columns: 60 };

test('a terminal has colours, a pipe has none', () => {
  expect(paintFor(TERMINAL, {}).bad('x')).toBe('\u001b[31mx\u001b[39m');
  expect(paintFor({ isTTY: false }, {})).toBe(PLAIN);
});

test.each([
  [{ NO_COLOR: '1' }, false],
  [{ NO_COLOR: '' }, true],
  [{ TERM: 'dumb' }, false],
])('the environment %o decides about colours', (env, hasColours) => {
  expect(paintFor(TERMINAL, env) !== PLAIN).toBe(hasColours);
});

test('only a terminal has a width', () => {
  expect(columnsOf(TERMINAL)).toBe(60);
  expect(columnsOf({ isTTY: false, columns: 60 })).toBeUndefined();
  expect(columnsOf({ isTTY: true, columns: 0 })).toBeUndefined();
});
