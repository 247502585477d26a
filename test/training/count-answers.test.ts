import { countAnswers, notesFrom } from '../../src/training/cli/notes';
import { aGroup, aRollout } from './cli/show/a-group';

const topics = new Map([
  ['algebra-17', 'algebra'],
  ['law-2', 'law'],
]);
/** Somebody works ahead, and the other one answers. */
const team = {
  steps: [
    { worker: 'quick', subtask: 'Plan.', sees: [] },
    { worker: 'scholar', subtask: 'Answer.', sees: [0] },
  ],
};

test('an answer is that of whoever had the last step, alone or in a team', () => {
  const rollouts = [aRollout(0), aRollout(1, { plan: team }), aRollout(2, { plan: team, verdict: 'wrong' })];
  expect(countAnswers([aGroup(rollouts), aGroup([aRollout(0)], { question: 'law-2' })], topics)).toEqual([
    { worker: 'quick', topic: 'algebra', answers: 1, right: 1 },
    { worker: 'scholar', topic: 'algebra', answers: 2, right: 1 },
    { worker: 'quick', topic: 'law', answers: 1, right: 1 },
  ]);
});

test.each([
  ['nobody could judge', aGroup([aRollout(0, { verdict: 'ungraded' })])],
  ['is to no plan', aGroup([aRollout(0, { plan: null, verdict: 'unparseable' })])],
  ['reviews another one', aGroup([aRollout(0)], { round: 1 })],
  ['is to a held-out question', aGroup([aRollout(0)], { purpose: 'evaluation' })],
  ['is to a question without a topic', aGroup([aRollout(0)], { question: 'riddle-1' })],
])('what %s does not count', (_, group) => {
  expect(countAnswers([group], topics)).toEqual([]);
});

test('notes tell percents, the best topic first, and nothing of what was hardly tried', () => {
  const count = (worker: string, topic: string, answers: number, right: number) => ({
    worker,
    topic,
    answers,
    right,
  });
  const counts = [
    count('quick', 'law', 30, 10),
    count('quick', 'algebra', 8, 7),
    count('scholar', 'law', 5, 5),
    count('scholar', 'algebra', 4, 0),
    count('idle', 'law', 1, 1),
  ];
  expect([...notesFrom(counts)]).toEqual([
    ['scholar', 'law 100 %'],
    ['quick', 'algebra 88 %, law 33 %'],
  ]);
});
