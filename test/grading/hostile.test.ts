import fc from 'fast-check';
import { grade, questionSchema, type RightAnswer } from '../../src/grading';
import { readShape } from '../../src/grading/mathematics/shape';
import { hostileText } from '../support/hostile-text';
import { LONGEST_TEXT, tries } from '../support/thorough';

// Without math-verify, which is optional.
beforeAll(() => (process.env.CONDUCTOR_PYTHON = '/no/python'));

const QUESTIONS: readonly RightAnswer[] = [
  { grader: 'exact', answer: 'B' },
  { grader: 'number', answer: '0.75', tolerance: 0.01 },
  { grader: 'choice', answer: 'B', options: ['Rome', 'Paris', 'Bonn'] },
  { grader: 'freeform', answer: '5 km' },
  { grader: 'freeform', answer: 'red, green, 5 km' },
];

/** Parts that patterns match, or that make long runs: blanks of all kinds, line breaks, marks that NFC reorders. */
const PARTS = [
  ...Array.from(' \t\n\u00a0\u202f\u2028\u0300\u0316{}()$`"\':=,/.ΣİABK07-+−ex^⁄½'),
  ...['\r\n', '\u0300\u0316', '\u1100\u1161', '**', 'answer', 'ANSWER', 'is', 'or', 'and', 'not', 'word'],
  ...['<answer>', '</answer>', '\\boxed', '\\text', '\\frac', '\\times', '\\,', '{,}'],
  ...['1,', '000', '10', '10^', '1/'],
];
// Parts that only mathematics has, which is read up to 2,000 characters.
const MATH_PARTS = [
  ...Array.from('<>_!&[];|i%²'),
  ...['\\sqrt', 'sqrt(', '\\text{', '\\left', '\\right', '\\pm', '\\cup', '\\in', '\\le', '^('],
  ...['\\begin{pmatrix}', '\\end{pmatrix}', '\\\\', '\\{', '\\}', '\\mid'],
  ...['^{\\circ}', '\\pi', '\\infty', '9^{', 'km', 'and ', 'x ', 'x=', '\\sin'],
];

test.each(QUESTIONS)('a long text of anything is graded at once: $grader $answer', async (question) => {
  // More than linear cost would still take minutes.
  await fc.assert(
    fc.asyncProperty(hostileText(PARTS), async (reply) => {
      const { verdict, extracted } = await grade(question, reply);
      expect(['correct', 'wrong', 'unparseable']).toContain(verdict);
      expect((extracted ?? '').length).toBeLessThanOrEqual(201);
    }),
    {
      numRuns: PARTS.length + tries(40),
      examples: PARTS.map((each) => [each.repeat(LONGEST_TEXT / each.length)]),
    },
  );
});

test('a long text of anything is never judged to be correct mathematics', async () => {
  await fc.assert(
    fc.asyncProperty(hostileText([...PARTS, ...MATH_PARTS]), async (reply) => {
      const { verdict } = await grade(
        { grader: 'math', answer: '\\frac{1}{2}' },
        reply.padEnd(LONGEST_TEXT, reply),
      );
      expect(verdict).not.toBe('correct');
    }),
    { numRuns: tries(20) },
  );
});

test('a long answer is not judged by its beginning', async () => {
  const question = { grader: 'math', answer: '\\frac{1}{2}' } as const;
  expect((await grade(question, `\\frac{1}{2}${' '.repeat(3_000)}+5`)).verdict).toBe('wrong');
});

test('any two thousand characters are parsed at once', () => {
  fc.assert(
    fc.property(hostileText([...PARTS, ...MATH_PARTS], 2_000), (text) => {
      expect(typeof readShape(text).kind).toBe('string');
    }),
    { numRuns: tries(300), examples: MATH_PARTS.map((each) => [each.repeat(2_000 / each.length)]) },
  );
});

test('a tower of exponents is aborted, and the next answer is judged', async () => {
  const question = { grader: 'math', answer: '2\\sqrt{3}' } as const;
  const tower = await grade(question, '9^{9^{9^{9}}}');
  expect(['wrong', 'ungraded']).toContain(tower.verdict);
  expect((await grade(question, '\\sqrt{12}')).verdict).toBe('correct');
});

test.each(['exact', 'number', 'choice', 'freeform', 'math'] as const)(
  'a right answer of any length is read at once: %s',
  (grader) => {
    fc.assert(
      fc.property(hostileText(PARTS), (answer) => {
        const row = { id: 'q', question: answer, grader, answer };
        expect(typeof questionSchema.safeParse(row).success).toBe('boolean');
      }),
      { numRuns: tries(20) },
    );
  },
);

test('an implausibly long run of combining marks is shortened, and shorter ones count as they are', async () => {
  const question = { grader: 'exact', answer: 'e\u0301\u0316' } as const;
  expect((await grade(question, '\u00e9\u0316')).verdict).toBe('correct');
  expect((await grade(question, `e\u0301\u0316${'\u0316'.repeat(1000)}`)).verdict).toBe('wrong');
});

test('numbers of any length are compared in full', async () => {
  const digits = '7'.repeat(100_000);
  expect((await grade({ grader: 'number', answer: digits }, `00${digits}`)).verdict).toBe('correct');
  expect((await grade({ grader: 'number', answer: digits }, `${digits.slice(1)}8`)).verdict).toBe('wrong');
});
