import * as fc from 'fast-check';
import { type Failure, failureOf, FAILURES, type JudgedRun } from '../../src/evaluation/failure-kinds';
import type { Verdict } from '../../src/grading';

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
  [
    'a right answer that a review changed',
    run({ rounds: [{ ...WRONG, answer: 'correct' }, WRONG] }),
    'spoilt',
  ],
  [
    'a right output, and a wrong answer',
    run({ rounds: [{ ...WRONG, outputs: ['correct', 'wrong'] }] }),
    'lost',
  ],
  ['one worker for all', run({ rounds: [{ ...WRONG, plan: planOf('a', 'a') }] }), 'one worker'],
  [
    'one worker for all, none of whom knows better',
    run({ rounds: [{ ...WRONG, plan: planOf('a', 'a') }], pool: { a: 'wrong', b: 'wrong' } }),
    'unsolved',
  ],
  ['one who would have known', run({ pool: { ...POOL, c: 'correct' } }), 'wrong worker'],
  [
    'a review that accepts',
    run({ rounds: [WRONG, { plan: planOf(), outputs: [], answer: 'wrong' }] }),
    'vain review',
  ],
  ['a review that changes it in vain', run({ rounds: [WRONG, WRONG] }), 'vain review'],
  ['a wrong answer', run(), 'unsolved'],
])('%s', (_, judged, failure) => {
  expect(failureOf(judged)).toBe(failure);
});

const verdict = fc.constantFrom<Verdict>('correct', 'wrong', 'unparseable', 'ungraded');
const known = fc.option(verdict);
const worker = fc.constantFrom('a', 'b', 'c');
const round = fc
  .record({
    workers: fc.option(fc.array(worker, { maxLength: 4 })),
    outputs: fc.array(known, { maxLength: 4 }),
    answer: known,
  })
  .map(({ workers, ...rest }) => ({ plan: workers === null ? null : planOf(...workers), ...rest }));
const anyRun = fc.record({
  rounds: fc.array(round, { minLength: 1, maxLength: 3 }),
  answer: verdict,
  pool: fc.record({ a: known, b: known, c: known }),
});

test('a run has failed in one way where its answer is wrong, and in none where it is right', () => {
  fc.assert(
    fc.property(anyRun, (judged) => {
      const failure = failureOf(judged);
      if (judged.answer === 'correct' || judged.answer === 'ungraded') expect(failure).toBeNull();
      else expect(FAILURES).toContain(failure);
    }),
  );
});

test('nothing right on the way: neither spoilt nor lost; no review: none in vain; no one known: no wrong worker', () => {
  fc.assert(
    fc.property(anyRun, (judged) => {
      const failure = failureOf(judged);
      const isRight = judged.rounds.some(
        ({ outputs, answer }) => answer === 'correct' || outputs.includes('correct'),
      );
      if (!isRight) expect(['spoilt', 'lost']).not.toContain(failure);
      if (judged.rounds.length === 1) expect(failure).not.toBe('vain review');
      if (!Object.values(judged.pool).includes('correct')) expect(failure).not.toBe('wrong worker');
    }),
  );
});
