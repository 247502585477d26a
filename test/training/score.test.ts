import { scoreQuestions } from '../../src/training/rewards';
import type { GroupRecord, Rollout } from '../../src/training/records';
import { aGroup, aRollout } from './cli/show/a-group';

function rollout(index: number, change: Partial<Rollout>): Rollout {
  return aRollout(index, { reward: 0.5, nanoUsd: 100, ...change });
}

function group(question: string, rollouts: readonly Rollout[], round = 0): GroupRecord {
  return aGroup(rollouts, { question, round, purpose: 'evaluation' });
}

test('a question scores the mean reward and cost of its rollouts, those without a verdict left aside', () => {
  const rollouts = [
    rollout(0, { reward: 1, nanoUsd: 300 }),
    rollout(1, { reward: 0.5 }),
    rollout(2, { reward: null, nanoUsd: 200 }),
  ];
  expect(scoreQuestions([group('q1', rollouts), group('q2', [rollout(0, {})])])).toEqual([
    { question: 'q1', reward: 0.75, nanoUsd: 200 },
    { question: 'q2', reward: 0.5, nanoUsd: 100 },
  ]);
});

test('nothing graded is no reward, and one unknown price makes the cost unknown', () => {
  const rollouts = [rollout(0, { reward: null, nanoUsd: null }), rollout(1, { reward: null })];
  expect(scoreQuestions([group('q1', rollouts)])).toEqual([{ question: 'q1', reward: null, nanoUsd: null }]);
});

test('an answer that was reviewed counts as it came out of the review, at the price of both', () => {
  const first = group('q1', [rollout(0, { reward: 0.5 }), rollout(1, { reward: 0 })]);
  const second = group('q1', [rollout(0, { root: 0, reward: 1, nanoUsd: 50 })], 1);
  expect(scoreQuestions([second, first])).toEqual([{ question: 'q1', reward: 0.5, nanoUsd: 125 }]);
});

test('a question that was asked of several teams scores the mean of them, and none where one could not be graded', () => {
  const team = (draw: number, reward: number | null, nanoUsd: number): GroupRecord => ({
    ...group('q1', [rollout(0, { reward, nanoUsd })]),
    draw,
  });
  expect(scoreQuestions([team(0, 1, 100), team(9, 0.5, 300)])).toEqual([
    { question: 'q1', reward: 0.75, nanoUsd: 200 },
  ]);
  expect(scoreQuestions([team(0, 1, 100), team(9, null, 300)])).toMatchObject([{ reward: null }]);
});
