import { grade, type Verdict } from '../../../src/grading';
import { misjudged, readPairs } from './pairs';

// Without math-verify, which is optional.
beforeAll(() => (process.env.CONDUCTOR_PYTHON = '/no/python'));

test('the first tier alone judges at least 300 pairs of our own correctly', async () => {
  expect(readPairs().length).toBeGreaterThanOrEqual(300);
  expect(await misjudged()).toEqual([]);
});

const verdictOf = async (right: string, reply: string): Promise<Verdict> =>
  (await grade({ grader: 'math', answer: right }, `$${reply}$`)).verdict;

/** Formulas without a value at a point, each with another that a value made up for it would equal. */
const WITHOUT_VALUES = [
  ["f'(x)", '0'],
  ["f'(x)", "2f'(x)"],
  ["f'(x)", "g'(x)"],
  ["y''", "y'"],
  ['\\sum_{k=1}^{n} k a_{n-k}', '\\sum_{k=1}^{n} k^2 a_{n-k}'],
  ['\\sum_{k=1}^{n} k', '0'],
  ['\\sum_{k=1}^{n} b_k', '0'],
  ['\\sum_{k=1}^{3} a_k', '3a_k'],
  ['\\prod_{k=1}^{n} a_k', '1'],
  ['a_{n+1} = 2a_n + 1', 'a_{n+1} = 3a_n + 1'],
  ['a_{n+1} = a_n + a_{n-1}', 'a_{n+1} = a_n - a_{n-1}'],
  ['\\overline{z}', 'z'],
  ['\\bar{z}', 'z'],
  ['z\\overline{z}', 'z^2'],
  ['\\Re(z)', 'z'],
  ['A^T', 'A'],
  ['f(x)', 'g(x)'],
  ['\\hat{x}', 'x'],
  ['\\vec{a} \\times \\vec{b}', '\\vec{a} \\cdot \\vec{b}'],
  ['a × b', 'a · b'],
  ['\\nabla f', 'f'],
];

test.each(WITHOUT_VALUES)('%s is not shown to equal %s by numbers alone', async (right, reply) => {
  expect(['wrong', 'ungraded']).toContain(await verdictOf(right, reply));
  expect(await verdictOf(right, right)).toBe('correct');
});

test('terms without a value may stand in another order', async () => {
  expect(await verdictOf("f'(x) + 1", "1 + f'(x)")).toBe('correct');
});

test('what one answer calls a function stays a number in the next', async () => {
  await verdictOf('7', 'a(b+c) + u(v)');
  expect(await verdictOf('ab + u', 'u + b a')).toBe('correct');
});
