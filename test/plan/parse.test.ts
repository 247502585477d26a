import { parsePlan } from '../../src/plan/parse';
import { PlanError } from '../../src/plan/plan-error';
import { validatePlan } from '../../src/plan/validate';
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

test('an error message says what is wrong and points at it', () => {
  const reply = 'A plan.\nmodel_id = [0, 9]\nsubtasks = ["a", "b"]\naccess_list = [[], []]';
  expect(problemOf(reply, CONTEXT)).toBe(
    'There is no worker "9" in the pool. Write a number from 0 to 3.\n  model_id = [0, 9]\n                 ^',
  );
});

describe('binary access', () => {
  const binary = { ...CONTEXT, access: 'binary' } as const;
  const reply = (access: string): string =>
    `model_id = [0, 1]\nsubtasks = ["a", "b"]\naccess_list = ${access}`;

  test.each([
    ['[[], []]', []],
    ['[[], ["all"]]', [0]],
    ['[[], ["all", 0]]', [0]],
    ['all', [0]],
  ])('%s is read', (access, sees) => {
    expect(outcomeOf(() => parsePlan(reply(access), binary))).toMatchObject({
      steps: [{ sees: [] }, { sees }],
    });
  });

  test('step numbers are refused, with what to write instead', () => {
    expect(problemOf(reply('[[], [0]]'), binary)).toMatch(
      'Each entry of access_list is [] (sees nothing) or ["all"] (sees every earlier step), not "0".',
    );
    expect(problemOf(reply('[[], [0]]'), CONTEXT)).toBe('no error');
  });

  test('a plan written by a person may name steps', () => {
    const plan = { steps: [step, step, { ...step, sees: [1] }] };
    expect(validatePlan(plan, binary)).toEqual(plan);
  });
});

test('an error message shows a window of a long line, without control characters', () => {
  const long = 'é\u0000'.repeat(500);
  const reply = `model_id = [0, 0]\nsubtasks = ["a", "${long}"], access_list = [[], [1]] ${'x'.repeat(500)}`;
  const [, line = '', caret = ''] = problemOf(reply, CONTEXT).split('\n');
  expect(line.length).toBeLessThan(120);
  expect(line).not.toMatch(/\p{C}/u);
  expect(line.slice(caret.indexOf('^'))).toMatch(/^\[1\]\]/);
});

test('the caret is placed correctly after characters outside the Basic Multilingual Plane', () => {
  const [, line = '', caret = ''] = problemOf(
    '😀 model_id = [9] subtasks = [""] access_list = [[]]',
    CONTEXT,
  ).split('\n');
  expect(Array.from(line)[caret.indexOf('^')]).toBe('9');
});

const step = { worker: 'gpt', subtask: 'x', sees: [] as number[] };

test('a plan that arrives as data is returned in normal form', () => {
  const plan = { steps: [step, step, { ...step, sees: [1, 0, 1] }] };
  expect(validatePlan(plan, CONTEXT)).toEqual({ steps: [step, step, { ...step, sees: [0, 1] }] });
});

test.each([
  ['no object', 'plan', 'bad_shape', 'the value'],
  ['steps without a worker', { steps: [{ subtask: 'x', sees: [] }] }, 'bad_shape', 'step 0 needs the id'],
  ['a field that no plan has', { steps: [{ ...step, taskQueue: 'q' }] }, 'bad_shape', 'taskQueue'],
  ['half a step number', { steps: [step, { ...step, sees: [0.5] }] }, 'bad_shape', 'step 1 needs a list'],
  ['a stranger', { steps: [{ ...step, worker: '../gpt' }] }, 'unknown_worker', '"../gpt"'],
  ['an ordinal, which only replies may use', { steps: [{ ...step, worker: '0' }] }, 'unknown_worker', '"0"'],
  ['six steps', { steps: Array(6).fill(step) }, 'too_many_steps', '6 steps'],
  ['no steps in round 0', { steps: [] }, 'nothing_to_accept', 'Write at least one step'],
  ['a step that sees itself', { steps: [{ ...step, sees: [0] }] }, 'forward_reference', 'Step 0'],
  ['a long subtask', { steps: [{ ...step, subtask: 'x'.repeat(8193) }] }, 'subtask_too_long', '8193 bytes'],
])('%s is refused with what is wrong', (_, value: unknown, code, words) => {
  const message: unknown = expect.stringContaining(words);
  expect(outcomeOf(() => validatePlan(value, CONTEXT))).toMatchObject({ code, message });
});

test('an empty plan in a later round accepts the current answer', () => {
  expect(validatePlan({ steps: [] }, { ...CONTEXT, round: 1 })).toEqual({ steps: [] });
});
