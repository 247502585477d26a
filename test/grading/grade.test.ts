import fc from 'fast-check';
import { grade, type RightAnswer, type Verdict } from '../../src/grading';

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
  ['number', '42', 'forty-two', 'unparseable'],
  ['number', '1234567', '$1,234,567.00', 'correct'],
  ['number', '1,234', '\\boxed{1{,}234}', 'correct'],
  ['number', '0.75', '<answer>\\frac{3}{4}</answer>', 'correct'],
  ['number', '1/3', '2/6', 'correct'],
  ['number', '-5', '−5', 'correct'],
  ['number', '5', 'pages 3-5', 'correct'],
  ['number', '3000', '3 \\times 10^{3}', 'correct'],
  ['number', '50', '50%', 'correct'],
  ['number', '7', '7/0', 'unparseable'],
  ['number', 'none', '7', 'ungraded'],
  ['choice', 'C', '<answer>c</answer>', 'correct'],
  ['choice', 'C', 'A is too small. The answer is (C).', 'correct'],
  ['choice', 'C', 'The answer is A. No: the answer is C, after all.', 'correct'],
  ['choice', 'C', 'so we have\n**C**\nas said', 'correct'],
  ['choice', 'C', 'thus $\\boxed{\\text{C}}$', 'correct'],
  ['choice', 'C', 'C. because of the sum', 'correct'],
  ['choice', 'A', 'A or C', 'unparseable'],
  ['choice', 'A', 'the answer is A or C', 'unparseable'],
  ['choice', 'A', 'A good question, hard to tell', 'unparseable'],
  ['choice', 'K', 'K', 'ungraded'],
  ['choice', 'A', 'a prime number', 'unparseable'],
  ['choice', 'A', 'Answer: A prime number', 'unparseable'],
  ['choice', 'A', 'The answer is A because it is prime', 'correct'],
  ['choice', 'A', 'The answer is (A) a prime number', 'correct'],
  ['choice', 'I', 'Answer: I do not know', 'unparseable'],
  ['choice', 'C', '**Answer:** C, I think', 'correct'],
  ['choice', 'C', 'the answer is option C', 'correct'],
  ['choice', 'C', '3', 'correct'],
  ['choice', 'C', 'A\nC', 'unparseable'],
  ['choice', 'C', 'Answer: C, D', 'unparseable'],
  ['choice', 'C', '\\boxed{C} or \\boxed{A/B}', 'unparseable'],
  ['choice', 'C', 'Cats, mostly', 'unparseable'],
  ['choice', 'C', '', 'unparseable'],
  ['choice', 'C', '**Answer: C** (Checked with 3 independent methods.)', 'correct'],
  ['choice', 'D', '**Answer: C** (Checked with 3 independent methods.)', 'wrong'],
  ['freeform', '5 km', 'It is 5,000 m.', 'correct'],
  ['freeform', '5 km', '5', 'correct'],
  ['freeform', '5 km', '5 m', 'wrong'],
  ['freeform', '5 km', '5 kg', 'wrong'],
  ['freeform', '5 km', 'about 5 km away', 'correct'],
  ['freeform', '5 km', 'far', 'unparseable'],
  ['freeform', '3', 'three', 'correct'],
  ['freeform', '12 apples', 'There are 12.', 'correct'],
  ['freeform', '50%', '0.5', 'correct'],
  ['freeform', '50%', '50 percent', 'correct'],
  ['freeform', '50%', '0.5%', 'wrong'],
  ['freeform', '0.25', '25 %', 'correct'],
  ['freeform', '$5', '5 dollars', 'correct'],
  ['freeform', '$5', 'USD 5.00', 'correct'],
  ['freeform', '$5', '500 cents', 'correct'],
  ['freeform', '$5', '€5', 'wrong'],
  ['freeform', '-$5', '-5 dollars', 'correct'],
  ['freeform', '-$5', '$5', 'wrong'],
  ['freeform', '$1.2 million', '1,200,000 dollars', 'correct'],
  ['freeform', '20 cm^2', '20 square centimetres', 'correct'],
  ['freeform', '20 cm^2', '20 cm', 'wrong'],
  ['freeform', '2 hours', '120 min', 'correct'],
  ['freeform', 'red, green, blue', 'Blue, red and green', 'correct'],
  ['freeform', 'red, green, blue', '- green\n- blue\n- red', 'correct'],
  ['freeform', 'red, green, blue', 'red, green, yellow', 'wrong'],
  ['freeform', 'red, red, blue', 'red, blue, blue', 'wrong'],
  ['freeform', '{1, 2, 3}', '3, 1, 2', 'correct'],
  ['freeform', '5 km, 3 h', '180 min, 5000 m', 'correct'],
  ['freeform', '1,234', '1234', 'correct'],
  ['freeform', 'Washington, D.C.', 'washington, d.c.', 'correct'],
  ['freeform', 'the Moon', 'Moon.', 'correct'],
  ['freeform', 'Paris', 'so the answer is **Paris**', 'correct'],
  ['freeform', 'World War 2', '2', 'wrong'],
  ['freeform', 'Paris', '', 'unparseable'],
  ['freeform', '204', '**Answer: 204** (Checked with 3 independent methods.)', 'correct'],
  ['freeform', '3', '**Answer: 204** (Checked with 3 independent methods.)', 'wrong'],
  ['freeform', '204', '**Answer: 204** (Checked with 3 methods.) So 205.', 'wrong'],
  ['freeform', '204', '**Answer: 204** is wrong, it was 205', 'wrong'],
  ['freeform', '204', '**Answer: 204** (or 205)', 'wrong'],
  ['freeform', '204', 'Answer: 204, or maybe 205', 'wrong'],
  ['freeform', 'the Danube', 'The answer is **the Danube** (it is longer).', 'correct'],
  ['freeform', 'Paris', 'The answer is Paris, Texas', 'wrong'],
  ['math', '\\frac{3}{4}', '<answer>0.75</answer>', 'correct'],
  ['math', '\\frac{3}{4}', 'Thus \\boxed{\\frac{3}{4}}, not \\frac{1}{4}.', 'correct'],
  ['math', '\\frac{3}{4}', '', 'unparseable'],
  ['math', '42', 'We add both.\nHence the total is $42$.', 'correct'],
  ['math', '42', 'Hence the total is \\(42\\), as said above.', 'correct'],
  ['math', '3, 4', 'The two roots are $4$ and $3$.', 'correct'],
  ['math', '4', 'The two roots are $3$ and $4$.', 'wrong'],
  ['math', '3, 4', '$x=3$ or $x=4$', 'correct'],
  ['math', '204', '**Answer: 204** (Checked with 3 independent methods.)', 'correct'],
  ['math', '205', '**Answer: 204** (Checked with 3 independent methods.)', 'wrong'],
  ['math', '5', 'The answer is 5 (x + 1)', 'wrong'],
  ['math', '42', `${'It is long. '.repeat(1000)}So the total is $42$.`, 'correct'],
] as const;

const verdictOf = async (question: RightAnswer, reply: string): Promise<Verdict> =>
  (await grade(question, reply)).verdict;

test.each(CASES)('%s %j, answered %j, is %s', async (grader, answer, reply, expected) => {
  expect(await verdictOf({ grader, answer }, reply)).toBe(expected);
});

test.each([
  [{ grader: 'choice', answer: 'B', options: ['w', 'x', 'y', 'z'] }, 'At first the answer is A.', 'B'],
  [{ grader: 'number', answer: '7' }, 'Could it be \\boxed{5}? No, 7.', 'It is 7.'],
  [{ grader: 'exact', answer: 'Paris' }, '<answer>Rome</answer>?', 'Paris'],
  [{ grader: 'freeform', answer: '5 km' }, 'The answer is 7 km. No.', 'It is 5 km.'],
  [{ grader: 'math', answer: '\\frac{3}{4}' }, 'So \\boxed{5}?', '\\boxed{0.75}'],
  [{ grader: 'number', answer: '7', tagged: true }, '<answer>5</answer>?', '<answer>7</answer>'],
] as const satisfies readonly (readonly [RightAnswer, string, string])[])(
  '%j is graded by the answer, not by the thoughts before it',
  async (question, thoughts, answer) => {
    for (const [open, close] of [
      ['<think>\n', '\n</think>\n\n'],
      ['[THINK]', '[/THINK]'],
      ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
      ['', '\n</think>\n\n'],
    ]) {
      expect(await grade(question, `${open}${thoughts}${close}${answer}`)).toMatchObject({
        verdict: 'correct',
      });
    }
    // Cut off inside its thoughts, however right these are.
    expect(await grade(question, `<think>\n${answer} But`)).toMatchObject({
      verdict: 'unparseable',
      extracted: null,
      reason: 'it ends inside its thoughts',
    });
  },
);

test('a grade states the extracted answer, the reason and the version of the grader', async () => {
  expect(await grade({ grader: 'freeform', answer: '5 km' }, 'The answer is 5 m.')).toEqual({
    verdict: 'wrong',
    extracted: '5 m.',
    reason: 'the quantity differs from 5 km',
    graderVersion: 'freeform/7',
  });
  const long = await grade({ grader: 'exact', answer: 'x' }, `a\n${'b'.repeat(1000)}`);
  expect(long.extracted).toBe(`a ${'b'.repeat(198)}…`);
});

test('a number may differ by the tolerance, relative to the right one', async () => {
  const question = { grader: 'number', answer: '200', tolerance: 0.001 } as const;
  const verdicts = ['199.8', '200.2', '199.7', '200.3'].map((reply) => verdictOf(question, reply));
  expect(await Promise.all(verdicts)).toEqual(['correct', 'correct', 'wrong', 'wrong']);
});

test.each([
  ['paris.', 'correct'],
  ['<answer>Paris</answer>', 'correct'],
  ['B. Paris', 'correct'],
  ['2', 'correct'],
  ['the answer is Paris', 'correct'],
  ['\\boxed{\\text{Paris}}', 'correct'],
  ['Rome', 'wrong'],
  ['B. Rome', 'unparseable'],
  ['Answer: B) Rome', 'unparseable'],
  ['4', 'unparseable'],
  ['D', 'unparseable'],
  ['Paris or Rome', 'unparseable'],
])('of Rome, Paris and Bonn, %j is %s', async (reply, expected) => {
  const options = ['Rome', 'Paris', 'Bonn'];
  expect(await verdictOf({ grader: 'choice', answer: 'B', options }, reply)).toBe(expected);
  expect(await verdictOf({ grader: 'choice', answer: 'Paris', options }, reply)).toBe(expected);
});

test('if the options are numbers, a number is read as the text of an option, not as its place', async () => {
  const question = { grader: 'choice', answer: 'C', options: ['3', '4', '1', '7'] } as const;
  expect([await verdictOf(question, '1'), await verdictOf(question, '3')]).toEqual(['correct', 'wrong']);
  expect(await verdictOf(question, '2')).toBe('unparseable');
});

test('an option that occurs twice is no answer', async () => {
  const question = { grader: 'choice', answer: 'B', options: ['both', 'one', 'both'] } as const;
  expect(await verdictOf(question, 'both')).toBe('unparseable');
});

test('a number is judged right in any notation', async () => {
  await fc.assert(
    fc.asyncProperty(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), async (number) => {
      for (const grader of ['number', 'freeform', 'math'] as const) {
        const question = { grader, answer: String(number) } as const;
        expect(await verdictOf(question, number.toLocaleString('en-US'))).toBe('correct');
        expect(await verdictOf(question, `so it is <answer>$${number}.</answer>`)).toBe('correct');
        expect(await verdictOf(question, String(number + 1n))).toBe('wrong');
      }
    }),
  );
});

test('a text is right with any white space around it, and no other text is', async () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  await fc.assert(
    fc.asyncProperty(word, word, async (right, other) => {
      const question = { grader: 'exact', answer: right } as const;
      expect(await verdictOf(question, ` \n${right.toUpperCase()} \t`)).toBe('correct');
      expect(await verdictOf(question, other)).toBe(other === right ? 'correct' : 'wrong');
    }),
  );
});

test('no letter is read from a sentence that names none', async () => {
  const words = fc.array(fc.stringMatching(/^(?:a|an|the|A|I|[a-z]{2,9})$/), { minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(words, async (sentence) => {
      expect(await verdictOf({ grader: 'choice', answer: 'A' }, `${sentence.join(' ')} word`)).toBe(
        'unparseable',
      );
    }),
  );
});
