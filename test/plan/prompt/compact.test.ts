import { conductorMessages, type ConductorPrompt } from '../../../src/plan/prompt/conductor';

const PROMPT: ConductorPrompt = {
  style: 'compact',
  question: 'How much is 17 and 26 for this loop?',
  workers: [
    { id: 'quick', notes: 'fast at\ntrivia' },
    { id: 'coder', notes: null },
  ],
  describe: 'ordinals',
  maxSteps: 5,
  repairs: [],
  format: 'lists',
};

function messagesOf(change: Partial<ConductorPrompt> = {}): ReturnType<typeof conductorMessages> {
  return conductorMessages({ ...PROMPT, ...change });
}

test.each([
  ['ordinals', 'Model id 0\nModel id 1'],
  ['names', 'Model id 0: quick\nModel id 1: coder'],
  ['notes', 'Model id 0: fast at trivia\nModel id 1'],
] as const)('question and team and nothing else, workers by %s', (describe, team) => {
  expect(messagesOf({ describe })).toEqual([{ role: 'user', text: `${PROMPT.question}\nWorkers:\n${team}` }]);
});

test('workers keep the order they are given in', () => {
  const workers = PROMPT.workers.toReversed();
  expect(messagesOf({ workers, describe: 'names' })[0]?.text).toContain(
    'Model id 0: coder\nModel id 1: quick',
  );
});

test('the Conductor itself is the last ordinal where it may be called', () => {
  expect(messagesOf({ mayCallItself: true })[0]?.text).toMatch(/Model id 1\nModel id 2: yourself$/);
});

test('a review shows the earlier plan as written, then its answer', () => {
  const review = { plan: { steps: [{ worker: 'coder', subtask: 'Solve it.', sees: [] }] }, answer: '43' };
  expect(messagesOf({ review, hints: ['be quick'] }).slice(1)).toEqual([
    { role: 'assistant', text: 'model_id = [1]\nsubtasks = ["Solve it."]\naccess_list = [[]]' },
    { role: 'user', text: 'Answer: 43\nThe person who asked wants you to mind this:\n- be quick' },
  ]);
  expect(messagesOf({ review })[0]).toEqual(messagesOf()[0]);
});

test('what a serving run adds is told, too', () => {
  const [asked, ...rest] = messagesOf({
    background: [{ subtask: 'Outline it.', output: 'add 17 and 26' }],
    hints: ['be quick'],
    repairs: [{ reply: 'oops', problem: 'The reply has no model_id.' }],
  });
  expect(asked?.text).toMatch(/loop\?\n[^]*add 17 and 26[^]*\nWorkers:[^]*- be quick$/);
  expect(rest.map(({ role }) => role)).toEqual(['assistant', 'user']);
  expect(rest[1]?.text).toContain('no model_id');
});
