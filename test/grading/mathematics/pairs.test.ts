import { grade } from '../../../src/grading';
import { readPairs } from './pairs';

// Without math-verify, which a machine need not have.
beforeAll(() => (process.env.CONDUCTOR_PYTHON = '/no/python'));
afterAll(() => delete process.env.CONDUCTOR_PYTHON);

const PAIRS = readPairs();

test('at least 300 pairs of our own are judged right by the first tier alone', async () => {
  expect(PAIRS.length).toBeGreaterThanOrEqual(300);
  const failed: string[] = [];
  for (const { kind, right, answer, isRight } of PAIRS) {
    const { verdict, reason } = await grade({ grader: 'math', answer: right }, answer);
    if (verdict !== (isRight ? 'correct' : 'wrong')) {
      failed.push(`${kind}: ${right} ${isRight ? '==' : '!='} ${answer}: ${verdict}, ${reason}`);
    }
  }
  expect(failed).toEqual([]);
});
