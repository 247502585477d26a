import { parsePlan } from '../../src/plan/parse';
import { PlanError } from '../../src/plan/plan-error';
import { outcomeOf, problemOf } from './outcome';
import { CONTEXT, REPLIES } from './replies';

describe('parsePlan reads the replies that models write', () => {
  test.each(REPLIES.map(([name, ...reply]) => [name, reply] as const))(
    '%s',
    (_, [text, expected, round = 0]) => {
      const outcome = outcomeOf(() => parsePlan(text, { ...CONTEXT, round }));
      const seen = outcome instanceof PlanError ? { code: outcome.code, list: outcome.list } : outcome;
      expect(seen).toEqual(expected);
    },
  );
});

test('a message says what is wrong and points at it', () => {
  const reply = 'A plan.\nmodel_id = [0, 9]\nsubtasks = ["a", "b"]\naccess_list = [[], []]';
  expect(problemOf(reply, CONTEXT)).toBe(
    'There is no worker "9" in the pool. Write a number from 0 to 3.\n  model_id = [0, 9]\n                 ^',
  );
});

test('a message shows a window of a long line, and no control characters', () => {
  const long = 'é\u0000'.repeat(500);
  const reply = `model_id = [0, 0]\nsubtasks = ["a", "${long}"], access_list = [[], [1]] ${'x'.repeat(500)}`;
  const [, line = '', caret = ''] = problemOf(reply, CONTEXT).split('\n');
  expect(line.length).toBeLessThan(120);
  expect(line).not.toMatch(/\p{C}/u);
  expect(line.slice(caret.indexOf('^'))).toMatch(/^\[1\]\]/);
});

test('the caret stands right behind characters outside the basic plane', () => {
  const [, line = '', caret = ''] = problemOf(
    '😀 model_id = [9] subtasks = [""] access_list = [[]]',
    CONTEXT,
  ).split('\n');
  expect(Array.from(line)[caret.indexOf('^')]).toBe('9');
});
