import { findLimitProblem } from '../../web/src/parts/limit';

test.each([
  ['-1', 'Limit in USD is "-1": it must be an amount of USD from 0 to 1000000, or empty for no limit.'],
  ['1e400', 'Limit in USD is "1e400": it must be'],
  ['abc', 'Limit in USD is "abc": it must be'],
  ['0', null],
  [' ', null],
])('a cost limit of %j is refused on the page before JSON makes it no limit', (costUsd, words) => {
  const problem = findLimitProblem({ costUsd, steps: '5', depth: '' });
  expect(problem).toEqual(words === null ? null : expect.stringContaining(words));
});

test('a field that needs a number says so when it is empty', () => {
  const needed = 'Steps per plan is empty: it must be a whole number from 1 to 50.';
  expect(findLimitProblem({ costUsd: '', steps: '' })).toBe(needed);
});
