import { grade, type RightAnswer } from '../../src/grading';
import { groupSame } from '../../src/grading/grade';
import { mostFrequent } from '../../src/evaluation/methods/samples';

// Without math-verify, which is optional.
beforeAll(() => (process.env.CONDUCTOR_PYTHON = '/no/python'));

test.each<[RightAnswer, readonly string[], readonly (number | null)[]]>([
  [
    { grader: 'number', answer: '8' },
    ['7', '3/4', '0.75', '7.0', 'none', '8', '16/2'],
    [0, 1, 1, 0, null, 5, 5],
  ],
  [{ grader: 'freeform', answer: '9 km' }, ['5 km', 'far', '5000 m', 'Far.'], [0, null, 0, null]],
  [{ grader: 'exact', answer: 'x' }, ['Paris', 'Rome', '**paris**'], [0, 1, 0]],
  [{ grader: 'exact', answer: 'x', caseSensitive: true }, ['pH', 'PH', 'pH.'], [0, 1, 0]],
  [{ grader: 'math', answer: '1' }, ['\\frac{1}{2}', 'x+1', '0.5', '1 + x', '\\sqrt{2}'], [0, 1, 0, 1, 4]],
  [{ grader: 'choice', answer: 'A' }, ['B', '(b)', 'C'], [0, 0, 2]],
  [
    { grader: 'number', answer: '7', tagged: true },
    ['<answer>8</answer>', '<answer>8.0</answer>', '8'],
    [0, 0, null],
  ],
  // All are close enough to the right answer, but a vote must not know it.
  [{ grader: 'number', answer: '2.333', tolerance: 1e-3 }, ['2.331', '2.335', '2.332'], [0, 1, 0]],
])('%j: of %j, the answers that the grader holds equal are the same', async (question, replies, places) => {
  const grades = await Promise.all(replies.map((reply) => grade(question, reply)));
  expect(await groupSame(question, grades)).toEqual(places);
});

test('a vote counts equal answers together, however they are written', async () => {
  const question = { grader: 'math', answer: '1' } as const;
  const replies = ['7', '7', '0.5', '\\frac{1}{2}', '\\dfrac12'];
  const grades = await Promise.all(replies.map((reply) => grade(question, reply)));
  expect(mostFrequent(await groupSame(question, grades))).toBe(2);
});

test('programs are the same if their text is, whatever they print', async () => {
  const question = { grader: 'code', tests: [{ input: '', output: '1' }] } as const;
  const programs = ['print(1)', 'print( 1)', 'print(1)'];
  const grades = programs.map((extracted) => {
    return { verdict: 'correct', extracted, reason: '', graderVersion: 'code/2' } as const;
  });
  expect(await groupSame(question, grades)).toEqual([0, 1, 0]);
});
