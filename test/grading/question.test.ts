import { questionSchema } from '../../src/grading/question';

const row = { id: 'q1', question: 'How many?', answer: '4', grader: 'number' };

test.each([
  ['a number as a number', { ...row, answer: 4 }],
  ['a topic and a tolerance', { ...row, topic: 'sums', tolerance: 0.001 }],
  ['a text', { ...row, grader: 'exact', answer: 'four', caseSensitive: true }],
  ['a choice with options', { ...row, grader: 'choice', answer: '(b)', options: ['three', 'four'] }],
  ['an option by its text', { ...row, grader: 'choice', answer: 4, options: ['three', '4'] }],
  ['mathematics', { ...row, grader: 'math', answer: '\\frac{1}{2}' }],
  ['a free answer', { ...row, grader: 'freeform', answer: '5 km' }],
  ['one for a grader of my own', { ...row, grader: 'custom', activity: 'judge', taskQueue: 'judges' }],
])('%s is a question', (_, content) => {
  expect(questionSchema.parse(content)).toMatchObject({ id: 'q1', answer: String(content.answer) });
});

const code = { id: 'q1', question: 'Add.', grader: 'code', tests: [{ input: '[1]', output: '2' }] };

test.each([
  ['a program', code],
  ['a function with limits', { ...code, function: 'add', seconds: 2, memoryMb: 256 }],
])('%s with its tests is a question', (_, content) => {
  expect(questionSchema.parse(content)).toEqual(content);
});

test.each([
  ['code without a test', { ...code, tests: [] }, 'tests'],
  ['a function that is none', { ...code, function: 'add()' }, 'function'],
  ['a test that is no JSON', { ...code, function: 'f', tests: [{ input: 'x', output: '1' }] }, 'tests.0'],
  ['no grader of ours', { ...row, grader: 'guess' }, 'grader'],
  ['a number that is none', { ...row, answer: 'four' }, 'answer'],
  ['a letter that is none', { ...row, grader: 'choice', answer: 'four' }, 'answer'],
  ['the number of an option', { ...row, grader: 'choice', answer: 1, options: ['three', 'four'] }, 'answer'],
  ['a letter of no option', { ...row, grader: 'choice', answer: 'C', options: ['three', 'four'] }, 'answer'],
  ['endless mathematics', { ...row, grader: 'math', answer: '1'.repeat(2001) }, 'answer'],
  ['free form of nothing', { ...row, grader: 'freeform', answer: ' $ ' }, 'answer'],
  ['a grader of my own without a queue', { ...row, grader: 'custom', activity: 'judge' }, 'taskQueue'],
  ['a right answer of nothing', { ...row, grader: 'exact', answer: '$ $' }, 'answer'],
  ['an empty question', { ...row, question: ' \n' }, 'question'],
  ['an id of two lines', { ...row, id: 'a\nb' }, 'id'],
  ['an id that is too long', { ...row, id: 'a'.repeat(129) }, 'id'],
  ['a field of another grader', { ...row, options: ['three', 'four'] }, ''],
])('%s is refused', (_, content, field) => {
  const { error } = questionSchema.safeParse(content);
  expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
});
