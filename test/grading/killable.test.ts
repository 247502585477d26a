import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { grade } from '../../src/grading';
import { type Helper, HelperError, Killable } from '../../src/runtime/killable';
import { freshFolder } from '../local/fresh-folder';
import { judged } from './code/fenced';

/** Prints `ready`, then echoes each line with its process id; `hang` never returns, and `end` exits. */
const ECHO = `
  process.stdin.setEncoding('utf8').on('data', (text) => {
    for (const line of text.trim().split('\\n')) {
      if (line === 'end') process.exit();
      if (line === 'hang') for (;;);
      console.log(line + ' ' + process.pid);
    }
  });
  console.log('ready');
`;

const ended: Promise<unknown>[] = [];

function startEcho(): Helper {
  const child = spawn(process.execPath, ['-e', ECHO], { stdio: ['pipe', 'pipe', 'ignore'] });
  ended.push(once(child, 'close'));
  return {
    post: (request) => child.stdin.write(`${String(request)}\n`),
    answers: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    kill: () => child.kill('SIGKILL'),
  };
}

test('a request that takes too long is ended, others wait for their turn, and a new process answers', async () => {
  const echo = new Killable(startEcho, { startMs: 30_000, answerMs: 5_000 });
  const [first, second, hung, after] = await Promise.allSettled(
    ['one', 'two', 'hang', 'three'].map((word) => echo.ask(word)),
  );
  const pid = (result: PromiseSettledResult<unknown> | undefined): string =>
    result?.status === 'fulfilled' ? String(result.value).replace(/^\w+ /, '') : 'none';
  expect(first).toMatchObject({ value: expect.stringMatching(/^one \d+$/) as string });
  expect(pid(second)).toBe(pid(first));
  expect(hung).toMatchObject({ reason: new HelperError('there was no answer in 5 s') });
  expect(after).toMatchObject({ value: expect.stringMatching(/^three \d+$/) as string });
  expect(pid(after)).not.toBe(pid(first));
  await ended[0];

  await expect(echo.ask('end')).rejects.toEqual(new HelperError('it ended'));
  expect(await echo.ask('four')).toMatch(/^four \d+$/);
  echo.stop();
  await Promise.all(ended);
});

test('if the second tier of mathematics fails, a "no" of the first is not judged wrong', async () => {
  process.env.CONDUCTOR_PYTHON = join(await freshFolder(), 'python');
  const program = '#!/bin/sh\necho \'{"ready": "0.9.0"}\'\nread line\n';
  await writeFile(process.env.CONDUCTOR_PYTHON, program, { mode: 0o755 });
  const found = await grade({ grader: 'math', answer: '[0,3]' }, '[0,2]\\cup[2,3]');
  expect(found).toMatchObject(judged('ungraded', 'math-verify: it ended'));
});
