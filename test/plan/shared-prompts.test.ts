import { stepsSharingPrompts } from '../../src/plan/shared-prompts';

/** Steps as `worker` or `worker<what it sees`. */
const sharing = (...steps: string[]): number[] => {
  const plan = {
    steps: steps.map((step) => {
      const [worker = '', sees = ''] = step.split('<');
      return { worker, subtask: '', sees: Array.from(sees, Number) };
    }),
  };
  return [...stepsSharingPrompts(plan)].sort();
};

test.each<[string, string[], number[]]>([
  ['a single step', ['a'], []],
  ['one worker after the other', ['a', 'b<0'], []],
  ['a worker that comes again', ['a', 'b<0', 'a<1'], [0, 2]],
  ['steps of one worker that begin at the same time', ['a', 'a', 'b<01'], []],
  ['such steps before one of the same worker: the first alone is written', ['a', 'a', 'a<01'], [0, 2]],
  ['a worker that comes again and again', ['a', 'a<0', 'a<1', 'b'], [0, 1, 2]],
  ['several later ones', ['a', 'a<0', 'a<0'], [0, 1, 2]],
])('%s', (_, steps, expected) => {
  expect(sharing(...steps)).toEqual(expected);
});

test('fifty steps, each of which sees all before it, are told apart at once', () => {
  const steps = Array.from({ length: 50 }, (_, index) => ({
    worker: index % 2 === 0 ? 'a' : 'b',
    subtask: '',
    sees: [...Array(index).keys()],
  }));
  expect(stepsSharingPrompts({ steps }).size).toBe(50);
});
