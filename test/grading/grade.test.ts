import fc from 'fast-check';
import { grade } from '../../src/grading/grade';

const CASES = [
  ['exact', 'Paris', 'paris', 'correct'],
  ['exact', 'Paris', 'It is <answer> **Paris**. </answer>', 'correct'],
  ['exact', 'Paris', 'Paris, I think', 'wrong'],
  ['exact', 'x + 1', '$\\boxed{x + 1}$', 'correct'],
  ['exact', 'the “old” rule', '"the "old" rule"', 'correct'],
  ['exact', 'Paris', '<answer>Rome</answer> or rather <answer>Paris', 'correct'],
  ['exact', 'Paris', '<answer>Paris</answer> or rather <ANSWER>Rome</ANSWER>', 'wrong'],
  ['exact', 'Paris', '', 'wrong'],
  ['exact', '$$', 'anything', 'ungraded'],
  ['number', '42', 'first 7, and at last 42', 'correct'],
  ['number', '42', '<answer>42 apples</answer> (not 43)', 'correct'],
  ['number', '42', 'forty-two', 'wrong'],
  ['number', '1234567', '$1,234,567.00', 'correct'],
  ['number', '1,234', '\\boxed{1{,}234}', 'correct'],
  ['number', '0.75', '<answer>\\frac{3}{4}</answer>', 'correct'],
  ['number', '1/3', '2/6', 'correct'],
  ['number', '1/3', '0.333', 'wrong'],
  ['number', '-5', '−5', 'correct'],
  ['number', '5', 'pages 3-5', 'correct'],
  ['number', '3e8', '3 × 10^8', 'correct'],
  ['number', '3000', '3 \\times 10^{3}', 'correct'],
  ['number', '033', '33', 'correct'],
  ['number', '50', '50%', 'correct'],
  ['number', '12345678901234567890', '12345678901234567891', 'wrong'],
  ['number', '0', '1e-20', 'wrong'],
  ['number', '7', '7/0', 'wrong'],
  ['number', 'none', '7', 'ungraded'],
  ['choice', 'C', '<answer>c</answer>', 'correct'],
  ['choice', 'C', '<answer>Answer: C</answer>', 'correct'],
  ['choice', 'C', 'A is too small. The answer is (C).', 'correct'],
  ['choice', 'C', 'The answer is A. No: the answer is C, after all.', 'correct'],
  ['choice', 'C', 'so we have\n**C**\nas said', 'correct'],
  ['choice', 'C', 'thus $\\boxed{\\text{C}}$', 'correct'],
  ['choice', 'C', 'C. because of the sum', 'correct'],
  ['choice', 'A', 'A or C', 'wrong'],
  ['choice', 'A', 'the answer is A or C', 'wrong'],
  ['choice', 'A', 'A good question, hard to tell', 'wrong'],
  ['choice', 'K', 'K', 'ungraded'],
] as const;

test.each(CASES)('%s %j, answered %j, is %s', (grader, answer, reply, expected) => {
  expect(grade({ grader, answer }, reply)).toBe(expected);
});

test('a number may differ by the tolerance, as a share of the right one', () => {
  const question = { grader: 'number', answer: '200', tolerance: 0.001 } as const;
  expect(['199.8', '200.2', '199.7', '200.3'].map((reply) => grade(question, reply))).toEqual([
    'correct',
    'correct',
    'wrong',
    'wrong',
  ]);
});

test('case counts where it is said to', () => {
  const question = { grader: 'exact', answer: 'pH', caseSensitive: true } as const;
  expect([grade(question, 'pH'), grade(question, 'PH')]).toEqual(['correct', 'wrong']);
});

test('an option may be given by its text', () => {
  const question = { grader: 'choice', answer: 'B', options: ['Rome', 'Paris', 'Bonn'] } as const;
  expect(
    ['paris.', '<answer>Paris</answer>', 'B. Paris', 'Rome'].map((reply) => grade(question, reply)),
  ).toEqual(['correct', 'correct', 'correct', 'wrong']);
});

test('a number is right however it is written', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), (number) => {
      const question = { grader: 'number', answer: String(number) } as const;
      expect(grade(question, number.toLocaleString('en-US'))).toBe('correct');
      expect(grade(question, `so it is <answer>$${number}.</answer>`)).toBe('correct');
      expect(grade(question, String(number + 1n))).toBe('wrong');
    }),
  );
});

test('a text is right with any blanks around it, and no other text is', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  fc.assert(
    fc.property(word, word, (right, other) => {
      const question = { grader: 'exact', answer: right } as const;
      expect(grade(question, ` \n${right.toUpperCase()} \t`)).toBe('correct');
      expect(grade(question, other)).toBe(other === right ? 'correct' : 'wrong');
    }),
  );
});

test('any reply is graded, and a long one at once', () => {
  fc.assert(
    fc.property(fc.string(), (reply) => {
      for (const grader of ['exact', 'number', 'choice'] as const) {
        expect(['correct', 'wrong']).toContain(
          grade({ grader, answer: 'B2' }, reply).replace('ungraded', 'wrong'),
        );
      }
    }),
  );
  const endless = ['1,', '(', ' ', '<answer>', '\\boxed{', 'answer is A or '].map((part) =>
    part.repeat(100_000),
  );
  for (const reply of endless) {
    for (const [grader, answer] of [
      ['exact', 'B'],
      ['number', '2'],
      ['choice', 'B'],
    ] as const) {
      expect(grade({ grader, answer }, reply)).toBe('wrong');
    }
  }
});
