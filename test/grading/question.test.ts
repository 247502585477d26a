import { questionSchema } from '../../src/grading/question';

const row = { id: 'q1', question: 'How many?', answer: '4', grader: 'number' };

test.each([
  ['a number as a number', { ...row, answer: 4 }],
  ['a topic and a tolerance', { ...row, topic: 'sums', tolerance: 0.001 }],
  ['a text', { ...row, grader: 'exact', answer: 'four', caseSensitive: true }],
  ['a choice with options', { ...row, grader: 'choice', answer: '(b)', options: ['three', 'four'] }],
])('%s is a question', (_, content) => {
  expect(questionSchema.parse(content)).toMatchObject({ id: 'q1', answer: String(content.answer) });
});

test.each([
  ['no grader of ours', { ...row, grader: 'guess' }, 'grader'],
  ['a number that is none', { ...row, answer: 'four' }, 'answer'],
  ['a letter that is none', { ...row, grader: 'choice', answer: 'four' }, 'answer'],
  ['a right answer of nothing', { ...row, grader: 'exact', answer: '$ $' }, 'answer'],
  ['an empty question', { ...row, question: ' \n' }, 'question'],
  ['an id of two lines', { ...row, id: 'a\nb' }, 'id'],
  ['an id that is too long', { ...row, id: 'a'.repeat(129) }, 'id'],
  ['a field of another grader', { ...row, options: ['three', 'four'] }, ''],
])('%s is refused', (_, content, field) => {
  const { error } = questionSchema.safeParse(content);
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
});
