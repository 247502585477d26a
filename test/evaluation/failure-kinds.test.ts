import { type Failure, failureOf, type JudgedRun } from '../../src/evaluation/failure-kinds';

const planOf = (...workers: readonly string[]) => ({
  steps: workers.map((worker) => ({ worker, subtask: '', sees: [] })),
});
const WRONG = { plan: planOf('a', 'b'), outputs: ['wrong', 'wrong'], answer: 'wrong' } as const;
const POOL = { a: 'wrong', b: null, c: 'wrong' } as const;
const run = (changes: Partial<JudgedRun> = {}): JudgedRun => ({
  rounds: [WRONG],
  answer: 'wrong',
  pool: POOL,
  ...changes,
});

test.each<[string, JudgedRun, Failure | null]>([
  ['a right answer', run({ answer: 'correct' }), null],
  ['an answer that could not be judged', run({ answer: 'ungraded' }), null],
  ['no plan', run({ rounds: [{ plan: null, outputs: [], answer: null }] }), 'format'],
  ['an answer that settles on nothing', run({ answer: 'unparseable' }), 'format'],
  ['a review that spoils it', run({ rounds: [{ ...WRONG, answer: 'correct' }, WRONG] }), 'spoilt'],
  ['a right output', run({ rounds: [{ ...WRONG, outputs: ['correct', 'wrong'] }] }), 'lost'],
  ['one worker for all', run({ rounds: [{ ...WRONG, plan: planOf('a', 'a') }] }), 'one worker'],
  [
    'one worker for all, none of whom knows better',
    run({ rounds: [{ ...WRONG, plan: planOf('a', 'a') }], pool: { a: 'wrong', b: 'wrong' } }),
    'unsolved',
  ],
  ['one who would have known', run({ pool: { ...POOL, c: 'correct' } }), 'wrong worker'],
  ['a review that accepts', run({ rounds: [WRONG, { ...WRONG, plan: planOf() }] }), 'vain review'],
  ['a review that changes it in vain', run({ rounds: [WRONG, WRONG] }), 'vain review'],
  ['a wrong answer', run(), 'unsolved'],
])('%s', (_, judged, failure) => {
  expect(failureOf(judged)).toBe(failure);
});
