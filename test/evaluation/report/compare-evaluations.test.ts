import type { EvaluatedQuestion } from '../../../src/evaluation/definitions';
import {
  type Compared,
  compareEvaluations,
  tableOfChanges,
} from '../../../src/evaluation/report/compare-evaluations';
import { aRecord } from '../a-record';

/** Returns an evaluation of forty questions, of which the first `right` are answered correctly at every try. */
function evaluated(
  id: string,
  right: number,
  { tries = 1, renamed = 0, methods = ['conductor', 'vote:a'] } = {},
): Compared {
  const questions = Array.from({ length: 40 * tries }, (_, index): EvaluatedQuestion => {
    const question = index % 40;
    const text = question < renamed ? 'Another question' : `Question ${question}`;
    return { id: `q${question}`, question: text, grader: 'exact', answer: 'x' };
  });
  const records = questions.flatMap(({ id: question }, index) =>
    methods.map((method) =>
      aRecord(method, index, { question, verdict: index % 40 < right ? 'correct' : 'wrong' }),
    ),
  );
  return { manifest: { id, methods }, records, questions };
}

test('an evaluation is compared with an earlier one, method by method, on the questions of both', () => {
  const before = evaluated('e1', 20, { methods: ['conductor', 'vote:a', 'random'] });
  const changes = compareEvaluations(before, evaluated('e2', 32, { renamed: 10 }));
  expect(changes.map(({ method, pairs, scores }) => [method, pairs, ...scores])).toEqual([
    ['conductor', 30, 10 / 30, 22 / 30],
    ['vote:a', 30, 10 / 30, 22 / 30],
  ]);
  expect(changes[0]).toMatchObject({ gain: 0.4, against: 'e1' });
  expect(changes[0]?.p).toBeLessThan(0.01);
  expect(changes[0]?.adjustedP).toBeCloseTo(2 * (changes[0]?.p ?? NaN), 9);
  const [head, row] = tableOfChanges('e1', 'e2', changes);
  expect(head?.slice(2, 4)).toEqual(['e1', 'e2']);
  expect(row?.slice(0, 5)).toEqual(['conductor', '30', '0.333', '0.733', '+0.400']);
});

test('evaluations with different numbers of tries are compared by the mean of each question', () => {
  const [change] = compareEvaluations(evaluated('e1', 20), evaluated('e2', 24, { tries: 3 }));
  expect(change).toMatchObject({ pairs: 40, scores: [0.5, 0.6] });
});

test('evaluations of different questions have nothing to compare', () => {
  expect(compareEvaluations(evaluated('e1', 20), evaluated('e2', 20, { renamed: 40 }))).toEqual([]);
});
