import { validatePlan } from '../../src/plan/validate';
import { outcomeOf } from './outcome';
import { CONTEXT } from './replies';

const step = { worker: 'gpt', subtask: 'x', sees: [] as number[] };

test('a plan that arrives as data is returned in normal form', () => {
  const plan = { steps: [step, step, { ...step, sees: [1, 0, 1] }] };
  expect(validatePlan(plan, CONTEXT)).toEqual({ steps: [step, step, { ...step, sees: [0, 1] }] });
});

test.each([
  ['no object', 'plan', 'bad_shape', 'the value'],
  [
    'steps without a worker',
    { steps: [{ subtask: 'x', sees: [] }] },
    'bad_shape',
    'step 0 needs the id of a worker',
  ],
  ['a field that no plan has', { steps: [{ ...step, taskQueue: 'q' }] }, 'bad_shape', 'taskQueue'],
  ['half a step number', { steps: [step, { ...step, sees: [0.5] }] }, 'bad_shape', 'step 1 needs a list'],
  ['a stranger', { steps: [{ ...step, worker: '../gpt' }] }, 'unknown_worker', '"../gpt"'],
  ['an ordinal, which only replies may use', { steps: [{ ...step, worker: '0' }] }, 'unknown_worker', '"0"'],
  ['six steps', { steps: Array(6).fill(step) }, 'too_many_steps', '6 steps'],
  ['no steps in round 0', { steps: [] }, 'nothing_to_accept', 'Write at least one step'],
  ['a step that sees itself', { steps: [{ ...step, sees: [0] }] }, 'forward_reference', 'Step 0'],
  ['a long subtask', { steps: [{ ...step, subtask: 'x'.repeat(8193) }] }, 'subtask_too_long', '8193 bytes'],
])('%s is refused with what is wrong', (_, value: unknown, code, words) => {
  expect(outcomeOf(() => validatePlan(value, CONTEXT))).toMatchObject({
    code,
    message: expect.stringContaining(words) as string,
  });
});

test('an empty plan accepts the answer at hand in a later round', () => {
  expect(validatePlan({ steps: [] }, { ...CONTEXT, round: 1 })).toEqual({ steps: [] });
});
