import { matchSteps, subtaskOf, workerOf } from '../../web/src/solve/match-steps';
import type { Round, Solve } from '../../web/src/api/types';

type Team = readonly (readonly [worker: string, subtask: string])[];

/** A solve with a round for each team, as far as steps are matched by it. */
function aSolve(...teams: readonly Team[]): Solve {
  const rounds = teams.map((team, round) => ({
    childId: null,
    round,
    plan: { steps: team.map(([worker, subtask]) => ({ worker, subtask, sees: [] })) },
    steps: team.map(([worker], index) => ({ index, worker })),
  }));
  return { id: 'one', rounds: rounds as unknown as Round[] } as Solve;
}

function matched(one: Solve, other: Solve): unknown[] {
  return matchSteps(one, other).map(({ by, ...pair }) => [
    by,
    ...[pair.one, pair.other].map((step) => step && `${workerOf(step)}: ${subtaskOf(step)}`),
  ]);
}

test('steps are matched by their subtask, whoever did them, and then by who did them', () => {
  const one = aSolve([
    ['a', 'Look.'],
    ['b', 'Count.'],
    ['c', 'Weigh.'],
  ]);
  const other = aSolve([
    ['b', 'Guess.'],
    ['b', ' Look.'],
  ]);
  expect(matched(one, other)).toEqual([
    ['subtask', 'a: Look.', 'b: Look.'],
    ['worker', 'b: Count.', 'b: Guess.'],
    [null, 'c: Weigh.', null],
  ]);
});

test('no step is matched twice, and none with a step of another round', () => {
  const one = aSolve([['a', 'Look.']], [['a', 'Look again.']]);
  const other = aSolve([
    ['a', 'Look.'],
    ['a', 'Look.'],
    ['a', 'Look again.'],
  ]);
  expect(matched(one, other)).toEqual([
    ['subtask', 'a: Look.', 'a: Look.'],
    [null, null, 'a: Look.'],
    [null, null, 'a: Look again.'],
    [null, 'a: Look again.', null],
  ]);
});
