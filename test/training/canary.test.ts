import { decideCanary } from '../../src/training/gate';
import type { ScoredPolicy } from '../../src/training/rewards';
import { CANARY_QUESTIONS, canaryQuestions } from '../../src/training/draw';

const [OWN, PARENT] = [
  [1e-6, 3e-6, 2e-6, 1e-6, 2e-6],
  [0.012, 0.009, 0.015, 0.011, 0.013],
];
const GAPS = { own: OWN, parent: PARENT, tolerance: 1e-3 };

function tried(name: string, rewards: readonly (number | null)[]): ScoredPolicy {
  const scores = rewards.map((reward, place) => ({ question: `q${place}`, reward, nanoUsd: 0 }));
  return { policy: { trainRun: 'nightly', name }, scores };
}

const before = tried('000010', [1, 0.5, 1, 0.5, 0.5, 1]);

test('a checkpoint that serves as it was tried stays, even a little worse than before', () => {
  expect(decideCanary(tried('000020', [1, 0.5, 1, 0.5, 0.5, 1]), before, GAPS).rolledBack).toBe(false);
  expect(decideCanary(tried('000020', [0.5, 1, 1, 0.5, 0.5, 0.5]), before, GAPS).rolledBack).toBe(false);
});

test.each([
  ['is worse beyond chance', tried('000020', [0, 0, 0.5, 0, 0, 0]), GAPS, 'it answers worse than before'],
  ['cannot be graded', tried('000020', [null, null, null, null, null, null]), GAPS, 'could be graded'],
  ['has other weights', before, { ...GAPS, own: PARENT, parent: null }, 'other weights than were trained'],
  [
    'is served by the weights before it, well within what is tolerated',
    before,
    { own: PARENT, parent: OWN, tolerance: 0.1 },
    'the servers answer with the weights before these',
  ],
  ['has weights that come to no number', before, { ...GAPS, own: [NaN] }, 'other weights'],
])('one that %s is taken back, and the sentence says why', (_, promoted, gaps, why) => {
  const { rolledBack, sentence } = decideCanary(promoted, before, gaps);
  expect(rolledBack).toBe(true);
  expect(sentence).toContain(why);
});

test('one whose weights hardly differ from those before it stays', () => {
  const gaps = { own: [0.05, 0.04, 0.06, 0.05], parent: [0.0501, 0.0399, 0.06, 0.0499], tolerance: 0.1 };
  expect(decideCanary(before, before, gaps).rolledBack).toBe(false);
  expect(decideCanary(before, before, { ...gaps, parent: null }).rolledBack).toBe(false);
});

test('where nobody could be graded, nothing is known against it', () => {
  const none = [null, null, null];
  expect(decideCanary(tried('000020', none), tried('000010', none), GAPS).rolledBack).toBe(false);
});

test('the questions of a canary are the same each time, spread over the set, and none twice', () => {
  const questions = canaryQuestions('questions/x.jsonl', 130);
  const indices = questions.map(({ index }) => index);
  expect(new Set(indices).size).toBe(CANARY_QUESTIONS);
  expect(Math.max(...indices)).toBeLessThan(130);
  expect(Math.max(...indices)).toBeGreaterThan(100);
  expect(canaryQuestions('questions/x.jsonl', 3).map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(canaryQuestions('questions/x.jsonl', 0)).toEqual([]);
});
