import { keptOutputs } from '../../src/protocol/input';

const step = (worker: string, sees: number[] = []) => ({ worker, subtask: 'Say', sees });
const plan = { steps: [step('a'), step('b', [0]), step('c', [0, 1])] };
const given = { plan, outputs: ['one', 'two', null] };

test('a given plan keeps the outputs that came with it', () => {
  expect(keptOutputs({ given }, plan)).toEqual(['one', 'two', null]);
  expect(keptOutputs({}, plan)).toEqual([null, null, null]);
});

test.each([
  ['another worker', step('d'), [null, null]],
  ['another subtask', { ...step('a'), subtask: 'Sing' }, [null, null]],
  ['the same step', step('a'), ['one', 'two']],
])('where a person edits the first step to %s, what saw it is kept only with it', (_, first, kept) => {
  expect(keptOutputs({ given }, { steps: [first, step('b', [0])] })).toEqual(kept);
});

test('a step that sees something else, and one of another plan, is run', () => {
  expect(keptOutputs({ given }, { steps: [step('a'), step('b')] })).toEqual(['one', null]);
  expect(keptOutputs({ given }, { steps: [step('x'), step('y')] })).toEqual([null, null]);
});
