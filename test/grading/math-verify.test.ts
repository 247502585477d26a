import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grade } from '../../src/grading/grade';
import { askMathVerify } from '../../src/grading/mathematics/math-verify';
import { useGradingPython } from '../support/grading-python';
import { readPairs } from './mathematics/pairs';

jest.setTimeout(600_000);

beforeAll(useGradingPython);
afterAll(() => delete process.env.CONDUCTOR_PYTHON);

test('what the first tier does not see, the second may', async () => {
  // Two intervals whose union is one, and words that stand for nothing.
  const question = { grader: 'math', answer: '[0,3]' } as const;
  const union = await grade(question, '[0,2]\\cup[2,3]');
  expect(union).toMatchObject({ verdict: 'correct', graderVersion: 'math/1 math-verify/0.9.0' });
  expect((await grade(question, '[0,2]\\cup[1,4]')).verdict).toBe('wrong');
});

test('both tiers together judge our own pairs as the first does alone', async () => {
  const failed: string[] = [];
  for (const { right, answer, isRight } of readPairs()) {
    const { verdict, reason } = await grade({ grader: 'math', answer: right }, answer);
    if (verdict !== (isRight ? 'correct' : 'wrong')) failed.push(`${right} ${answer}: ${verdict}, ${reason}`);
  }
  expect(failed).toEqual([]);
});

test('what takes both tiers too long is ungraded, and the next answer is judged', async () => {
  const question = { grader: 'math', answer: '[0,3]' } as const;
  const tower = await grade({ grader: 'math', answer: '5' }, '9^{9^{9^{9}}}');
  expect(tower).toMatchObject({
    verdict: 'ungraded',
    reason: expect.stringContaining('no answer in') as string,
  });
  expect((await grade(question, '[0,2]\\cup[2,3]')).verdict).toBe('correct');
});

test('Python within an answer is never run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'grading-'));
  const made = join(folder, 'made');
  const commands = [`__import__('os').system('touch ${made}')`, `open('${made}','w')`];
  for (const command of commands) {
    for (const latex of [
      command,
      `\\text{${command}}`,
      `\\mathrm{${command}}`,
      `${command}+1`,
      `x_{${command}}`,
    ]) {
      expect((await askMathVerify('1', latex))?.comparison).not.toBe('same');
      expect((await askMathVerify(latex, '1'))?.comparison).not.toBe('same');
    }
  }
  expect(existsSync(made)).toBe(false);
  await rm(folder, { recursive: true });
});
