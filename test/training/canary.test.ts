import { decideCanary, type ScoredPolicy } from '../../src/training/gate';
import { CANARY_QUESTIONS, canaryQuestions } from '../../src/training/draw';

const PROBE = { logprobGap: 1e-6, tolerance: 1e-4 };

function tried(name: string, rewards: readonly (number | null)[]): ScoredPolicy {
  const scores = rewards.map((reward, place) => ({ question: `q${place}`, reward, nanoUsd: 0 }));
  return { policy: { trainRun: 'nightly', name }, scores };
}

const before = tried('000010', [1, 0.5, 1, 0.5, 0.5, 1]);

test('a checkpoint that serves as it was tried stays, even a little worse than before', () => {
  expect(decideCanary(tried('000020', [1, 0.5, 1, 0.5, 0.5, 1]), before, PROBE).rolledBack).toBe(false);
  expect(decideCanary(tried('000020', [0.5, 1, 1, 0.5, 0.5, 0.5]), before, PROBE).rolledBack).toBe(false);
});

test.each([
  ['is worse beyond chance', tried('000020', [0, 0, 0.5, 0, 0, 0]), PROBE, 'it answers worse than before'],
  ['cannot be graded', tried('000020', [null, null, null, null, null, null]), PROBE, 'could be graded'],
  ['has other weights', before, { ...PROBE, logprobGap: 0.3 }, 'other weights than were trained'],
])('one that %s is taken back, and the sentence says why', (_, promoted, probe, why) => {
  const { rolledBack, sentence } = decideCanary(promoted, before, probe);
  expect(rolledBack).toBe(true);
  expect(sentence).toContain(why);
});

test('where nobody could be graded, nothing is known against it', () => {
  const none = [null, null, null];
  expect(decideCanary(tried('000020', none), tried('000010', none), PROBE).rolledBack).toBe(false);
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
