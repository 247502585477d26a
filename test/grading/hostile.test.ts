import fc from 'fast-check';
import { grade, questionSchema, type RightAnswer } from '../../src/grading';
import { hostileText } from '../support/hostile-text';

const MEGABYTE = 1024 * 1024;

const QUESTIONS: readonly RightAnswer[] = [
  { grader: 'exact', answer: 'B' },
  { grader: 'number', answer: '0.75', tolerance: 0.01 },
  { grader: 'choice', answer: 'B', options: ['Rome', 'Paris', 'Bonn'] },
];

/** What patterns of graders wait for, and what makes runs: blanks of all kinds, line breaks, marks that NFC reorders. */
const PARTS = [
  ...[
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\u00a0',
    '\u202f',
    '\u2028',
    '\u0300',
    '\u0316',
    '\u0300\u0316',
    '\u1100\u1161',
  ],
  ...[
    '<answer>',
    '</answer>',
    '\\boxed',
    '\\text',
    '\\frac',
    '\\times',
    '{',
    '}',
    '(',
    ')',
    '**',
    '$',
    '`',
    '"',
    "'",
  ],
  ...['answer', 'ANSWER', 'is', ':', '=', 'or', 'and', ',', '/', 'A', 'B', 'K', '.', 'Σ', 'İ'],
  ...['0', '7', '1,', '000', '-', '+', '−', 'e', 'x', '10', '^', '10^', '{,}', '\\,', '⁄', '1/', 'word'],
];
test.each(QUESTIONS)('a megabyte of anything is graded at once: $grader', (question) => {
  fc.assert(
    fc.property(hostileText(PARTS), (reply) => {
      expect(['correct', 'wrong']).toContain(grade(question, reply));
    }),
    { numRuns: 40, examples: PARTS.map((each) => [each.repeat(MEGABYTE / each.length)]) },
  );
});

test.each(['exact', 'number', 'choice'] as const)(
  'a right answer of a megabyte is read at once: %s',
  (grader) => {
    fc.assert(
      fc.property(hostileText(PARTS), (answer) => {
        const row = { id: 'q', question: answer, grader, answer };
        expect(typeof questionSchema.safeParse(row).success).toBe('boolean');
      }),
      { numRuns: 20 },
    );
  },
);

test('a run of marks that no writing has is shortened, and shorter ones count as they are', () => {
  const question = { grader: 'exact', answer: 'e\u0301\u0316' } as const;
  expect(grade(question, '\u00e9\u0316')).toBe('correct');
  expect(grade(question, `e\u0301\u0316${'\u0316'.repeat(1000)}`)).toBe('wrong');
});

test('numbers of any length are compared whole', () => {
  const digits = '7'.repeat(100_000);
  expect(grade({ grader: 'number', answer: digits }, `00${digits}`)).toBe('correct');
  expect(grade({ grader: 'number', answer: digits }, `${digits.slice(1)}8`)).toBe('wrong');
});
