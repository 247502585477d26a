import { QuestionIndex } from '../../../src/evaluation/data/question-index';

const words = (from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `word${from + index}`).join(' ');

function copiesOf(questions: readonly string[]): [string, string, number][] {
  const index = new QuestionIndex();
  questions.forEach((question, row) => {
    index.add(`${row}`, { id: `${row}`, question });
  });
  return index.copies().map(({ place, of, share }) => [place, of, Math.round(share * 100)]);
}

test('questions that differ only in case, white space or one word are copies', () => {
  const long = words(0, 60);
  expect(
    copiesOf([long, 'Why?', long.toUpperCase().replace(' ', '\n'), long.replace('word3 ', 'else ')]),
  ).toEqual([
    ['2', '0', 100],
    ['3', '0', 92],
  ]);
});

test('short questions are copies only if their words and signs are the same', () => {
  expect(copiesOf(['What is 3 + 4?', 'What is 3 - 4?', 'What is 3 + 4'])).toEqual([['2', '0', 100]]);
});

test('a common beginning of ten questions makes none of them a copy', () => {
  const preamble = words(0, 40);
  expect(
    copiesOf(Array.from({ length: 10 }, (_, row) => `${preamble} ${words(100 * (row + 1), 20)}`)),
  ).toEqual([]);
});

test('a question is found in another set, and a different one is not', () => {
  const index = new QuestionIndex();
  index.add('there', { id: 'a', question: words(0, 50) });
  expect(index.find(`Please: ${words(0, 50)}`)).toMatchObject({ of: 'there' });
  expect(index.find(words(50, 50))).toBeNull();
});
