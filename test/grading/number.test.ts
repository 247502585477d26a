import fc from 'fast-check';
import { grade, type Verdict } from '../../src/grading';

async function verdictOf(answer: string, reply: string, tolerance = 0): Promise<Verdict> {
  return (await grade({ grader: 'number', answer, tolerance }, reply)).verdict;
}

test.each([
  ['204', '\\boxed{204}. I checked it for n = 7.', 'correct'],
  ['204', '**Answer: 204** (Checked with 3 independent methods.)', 'correct'],
  ['3', '**Answer: 204** (Checked with 3 independent methods.)', 'wrong'],
  ['120', 'The answer is 120, found in 2 steps.', 'correct'],
  ['120', 'The answer is 120 for n = 7.', 'correct'],
  ['120', 'The answer is 120 (n = 7).', 'correct'],
  ['7', 'The answer is f(3) = 3 + 4 = 7, after 2 steps.', 'correct'],
  ['7', 'The answer is the sum 3 + 4 = 7.', 'correct'],
  ['3', 'The answer is 3 (mod 7).', 'correct'],
  ['7', 'The answer is 5? No: the answer is 7, which took 2 tries.', 'correct'],
  ['7', 'The answer is 5.\nNo, wait. The answer is 7.', 'correct'],
  ['7', '**Answer:** $x = 7$\n\nChecked for 3 values.', 'correct'],
  ['7', 'It has 3 cases. The answer is 7. I hope that this answer is right.', 'correct'],
  ['42', 'The answer is as follows:\nwe have 40 and 2, so 42', 'correct'],
  ['204', 'I put it in \\boxed{}. The answer is 204, in 3 steps.', 'correct'],
  ['3', 'It was \\boxed{2}, and now is \\boxed{3}: the answer is 2', 'correct'],
  ['3', '\\boxed{\\text{none}} of the 3', 'unparseable'],
  ['20', 'It is 20 cm^2.', 'correct'],
  ['9', 'The answer is x^2 = 9.', 'correct'],
  ['2', '<answer>First 1, and then 2</answer>', 'correct'],
  ['1024', '2^{10}', 'correct'],
  ['2^10', '1024', 'correct'],
  ['0.125', '2^-3', 'correct'],
  ['-4', '-2^2', 'correct'],
  ['2^100', '1267650600228229401496703205376', 'correct'],
  ['2^100', '1267650600228229401496703205377', 'wrong'],
  ['0', '10^-400', 'wrong'],
  ['0', '1e-400', 'wrong'],
  ['1e-400', '0', 'wrong'],
  ['1e400', '1e401', 'wrong'],
  ['1e400', '10^400', 'correct'],
  ['1e999999999', '10e999999998', 'correct'],
  ['1e999999999', '1e999999998', 'wrong'],
  ['0', '-0.0e9', 'correct'],
  ['0.1', '0.10000000000000000001', 'wrong'],
  ['1/3', '0.33333333333333333333', 'wrong'],
  ['1/3', '100000000000000000000/300000000000000000000', 'correct'],
  ['5', '9^99999999999', 'unparseable'],
  ['0.5', 'The answer is ½.', 'correct'],
  ['-2.5', 'The answer is −2½.', 'correct'],
  ['2 ⅞', '2.875', 'correct'],
  ['205', 'The answer is not 204 but 205.', 'correct'],
  ['204', 'Answer: not 204', 'unparseable'],
  ['2', 'Answer: not 1/2', 'unparseable'],
  ['10', 'It is not 2^10.', 'unparseable'],
  ['2', 'It is not ½.', 'unparseable'],
  ['204', 'It is 204, and not −204.', 'correct'],
])('if %j is right, %j is %s', async (right, reply, expected) => {
  expect(await verdictOf(right, reply)).toBe(expected);
});

test('a tolerance includes its bounds, and does not apply to zero', async () => {
  const verdictsOf = (answer: string, replies: readonly string[]): Promise<readonly Verdict[]> =>
    Promise.all(replies.map((reply) => verdictOf(answer, reply, 0.1)));
  expect(await verdictsOf('0.3', ['0.33', '0.27', '0.34'])).toEqual(['correct', 'correct', 'wrong']);
  expect(await verdictsOf('0', ['0.00', '1e-400', '1e-9'])).toEqual(['correct', 'wrong', 'wrong']);
  expect(await verdictsOf('1e400', ['1e400', '2e400'])).toEqual(['correct', 'wrong']);
});

test('nothing but the number itself is near one that a double cannot hold', async () => {
  expect(await verdictOf('1e400', '5', 0.01)).toBe('wrong');
  expect(await verdictOf('1e400', '1e400', 0.01)).toBe('correct');
});

/** Ways to state a final number. */
const CONCLUSIONS: readonly ((number: string) => string)[] = [
  (number) => `\\boxed{${number}}`,
  (number) => `$\\boxed{n = ${number}}$`,
  (number) => `The answer is ${number}`,
  (number) => `**Answer:** ${number}`,
  (number) => `Final answer: $${number}$`,
  (number) => `So the final answer is $\\frac{${number}}{1}$`,
  (number) => `The answer is a + b = ${number}`,
  (number) => `answer =${number}`,
];
/** Text before and after the conclusion that states no final answer. */
const BEFORE = ['', 'We try 3 cases.\n', 'With n = 12 we get 5. ', 'In 2 steps, 1/2 at a time:\n\n'];
const BEHIND = ['', '.', ', found in 2 steps.', '. I checked it for n = 7.', '\n\nThis holds for all 9.'];

test('a number is read in any wording, right or wrong', async () => {
  const number = fc.oneof(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
    fc.integer({ min: 0, max: 999 }).map(String),
    fc.tuple(fc.nat(), fc.nat(999)).map(([whole, thousandths]) => `${whole}.${thousandths}`),
  );
  const [before, conclusion] = [fc.constantFrom(...BEFORE), fc.constantFrom(...CONCLUSIONS)];
  const wording = fc.tuple(before, conclusion, fc.constantFrom(...BEHIND));
  await fc.assert(
    fc.asyncProperty(number, wording, fc.boolean(), async (right, [before, conclude, behind], isTagged) => {
      const reply = `${before}${conclude(right)}${behind}`;
      const text = isTagged ? `Thus <answer>${reply}</answer> (2 pages).` : reply;
      expect(await verdictOf(right, text)).toBe('correct');
      expect(await verdictOf(`${right}1`, text)).toBe('wrong');
    }),
    { numRuns: 500 },
  );
});

test('fractions of any size are equal if their cross products are', async () => {
  const digits = fc.bigInt({ min: 1n, max: 10n ** 400n });
  await fc.assert(
    fc.asyncProperty(digits, digits, digits, async (over, under, factor) => {
      const scaled = `${over * factor}/${under * factor}`;
      expect(await verdictOf(`${over}/${under}`, scaled)).toBe('correct');
      expect(await verdictOf(`${over + 1n}/${under}`, scaled)).toBe('wrong');
    }),
  );
});

test.each([
  ['1=', 'answer is '],
  ['answer is 1 = ', ''],
  ['answer is x ', ''],
  ['7', '1e'],
  ['7', '1/'],
  ['7', '7^'],
  ['(1 ', 'answer = '],
])('a megabyte of %j behind %j is read at once', async (part, before) => {
  const { verdict } = await grade({ grader: 'number', answer: '5' }, before + part.repeat(1e6 / part.length));
  expect(['wrong', 'unparseable']).toContain(verdict);
});
