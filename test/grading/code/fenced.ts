import { grade } from '../../../src/grading';

/** Returns the expectation of a grade with this verdict, whose reason contains these words. */
export function judged(verdict: string, reason: string): object {
  return { verdict, reason: expect.stringContaining(reason) as string };
}

/** Returns a reply with a program, as models write it. */
export function fenced(python: string): string {
  return `Here it is:\n\n\`\`\`python\n${python.trim()}\n\`\`\`\n\nIt is quick.`;
}

/** A question whose program reads two numbers, and prints their sum. */
export const SUM = {
  grader: 'code',
  tests: [
    { input: '1 2\n', output: '3\n' },
    { input: '5 7\n', output: '12\n' },
  ],
} as const;

const TWICE = {
  grader: 'code',
  function: 'twice',
  tests: [{ input: '[1, 2]\n"x"', output: '[2, 4]' }],
} as const;

/** Results of honest programs in any sandbox. */
const HONEST: readonly (readonly [string, typeof SUM | typeof TWICE, string, string, string])[] = [
  [
    'a right program',
    SUM,
    'if __name__ == "__main__":\n    a, b = map(int, input().split())\n    print(f"{a + b}.0")',
    'correct',
    'it passes 2 of 2 tests',
  ],
  ['a wrong program', SUM, 'print(3)', 'wrong', 'test 2 of 2: it printed 3 instead of 12'],
  ['an exit()', SUM, 'print(sum(map(int, input().split())))\nexit(1)', 'correct', 'it passes'],
  ['one that fails', SUM, 'print(3)\n1 / 0', 'wrong', 'ZeroDivisionError: division by zero'],
  ['one that is no Python', SUM, 'print(', 'wrong', 'SyntaxError'],
  [
    'a method, which prints as well',
    TWICE,
    'class Solution:\n    def twice(self, xs: List[int], y) -> List[int]:\n        print(xs)\n        return tuple(2 * x for x in xs)',
    'correct',
    'it passes 1 of 1 tests',
  ],
  ['a function', TWICE, 'def twice(xs, y):\n    return [2.0 * x for x in xs]', 'correct', 'it passes'],
  [
    'a wrong function',
    TWICE,
    'def twice(xs, y):\n    return xs',
    'wrong',
    'returned [1, 2] instead of [2, 4]',
  ],
  ['a function of another name', TWICE, 'def thrice(xs, y):\n    return xs', 'wrong', 'AttributeError'],
  ['a value that is no JSON', TWICE, 'def twice(xs, y):\n    return {2, 4}', 'wrong', 'it failed'],
];

/** Tests that a sandbox reports what honest programs do. */
export function testHonest(sandbox: string): void {
  test.each(HONEST)('%s', async (_, question, python, verdict, reason) => {
    const found = await grade(question, fenced(python));
    expect(found).toMatchObject(judged(verdict, reason));
    expect(found.graderVersion).toMatch(new RegExp(`^code/2 python/3\\.\\d+\\.\\d+ ${sandbox}$`));
  });
}
