import { grade } from '../../../src/grading/grade';
import { readPairs } from './pairs';

// Without math-verify, which a machine need not have.
beforeAll(() => (process.env.CONDUCTOR_PYTHON = '/no/python'));
afterAll(() => delete process.env.CONDUCTOR_PYTHON);

const PAIRS = readPairs();

test('of at least 300 pairs of our own, the first tier alone judges 98 % right', async () => {
  expect(PAIRS.length).toBeGreaterThanOrEqual(300);
  const failed: string[] = [];
  for (const { kind, right, answer, isRight } of PAIRS) {
    const { verdict, reason } = await grade({ grader: 'math', answer: right }, answer);
    if (verdict !== (isRight ? 'correct' : 'wrong')) {
      failed.push(`${kind}: ${right} ${isRight ? '==' : '!='} ${answer}: ${verdict}, ${reason}`);
    }
  }
  console.info(failed.join('\n'));
  expect(1 - failed.length / PAIRS.length).toBeGreaterThanOrEqual(0.98);
});
