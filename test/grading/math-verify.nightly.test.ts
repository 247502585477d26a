import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { grade } from '../../src/grading';
import {
  askMathVerify,
  confinePython,
  pythonPath,
  startPython,
} from '../../src/grading/mathematics/math-verify';
import { freshFolder } from '../local/fresh-folder';
import { useGradingPython } from '../support/grading-python';
import { isThere } from './code/bubblewrap-here';
import { judged } from './code/fenced';
import { misjudged } from './mathematics/pairs';

jest.setTimeout(600_000);

beforeAll(useGradingPython);

test('the second tier can recognize equal answers that the first does not', async () => {
  // Two intervals whose union is the right one, and two whose union is not.
  const question = { grader: 'math', answer: '[0,3]' } as const;
  const union = await grade(question, '[0,2]\\cup[2,3]');
  expect(union).toMatchObject({ verdict: 'correct', graderVersion: 'math/6 math-verify/0.9.0' });
  expect((await grade(question, '[0,2]\\cup[1,4]')).verdict).toBe('wrong');
});

test('both tiers together misjudge none of our own pairs', async () => {
  expect(await misjudged()).toEqual([]);
});

test('an answer that takes both tiers too long is ungraded, and the next answer is judged', async () => {
  const question = { grader: 'math', answer: '[0,3]' } as const;
  const tower = await grade({ grader: 'math', answer: '5' }, '9^{9^{9^{9}}}');
  expect(tower).toMatchObject(judged('ungraded', 'no answer in'));
  expect((await grade(question, '[0,2]\\cup[2,3]')).verdict).toBe('correct');
});

test('Python within an answer is never run', async () => {
  const made = join(await freshFolder(), 'made');
  const commands = [`__import__('os').system('touch ${made}')`, `open('${made}','w')`];
  for (const command of commands) {
    const around = ['\\text{', '\\mathrm{', 'x_{'].map((open) => `${open}${command}}`);
    for (const latex of [command, `${command}+1`, ...around]) {
      expect((await askMathVerify('1', latex))?.comparison).not.toBe('same');
      expect((await askMathVerify(latex, '1'))?.comparison).not.toBe('same');
    }
  }
  expect(existsSync(made)).toBe(false);
});

/** Returns a script that prints which attempts succeed. @param kept an existing file @param made a missing one */
const attempts = (kept: string, made: string): string => `
import os, socket
def attempt(name, what):
    try:
        what()
        print(name)
    except (OSError, ImportError):
        pass
def fork_exec():
    from _posixsubprocess import fork_exec
    read, write = os.pipe()
    fork_exec([b"/bin/true"], [b"/bin/true"], True, (), None, None, -1, -1, -1, -1, -1, -1, read, write,
              False, False, -1, None, None, None, -1, None, False)
attempt("open", lambda: os.open(${JSON.stringify(made)}, os.O_WRONLY | os.O_CREAT))
attempt("remove", lambda: os.remove(${JSON.stringify(kept)}))
attempt("start", fork_exec)
attempt("connect", lambda: socket.socket(socket.AF_UNIX))
print("done")`;

async function tryIn(start: (script: string) => ChildProcessWithoutNullStreams): Promise<unknown> {
  const folder = await freshFolder();
  const [kept, made] = [join(folder, 'kept'), join(folder, 'made')];
  await writeFile(kept, '');
  const child = start(attempts(kept, made));
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { printed: printed.trim(), errors, files: await readdir(folder) };
}

const NOTHING_DONE = { printed: 'done', errors: '', files: ['kept'] };

(isThere ? test : test.skip)('in bubblewrap it can start, connect to and write nothing', async () => {
  const python = pythonPath();
  const confined = await confinePython(python);
  expect(confined).not.toBeNull();
  const found = await tryIn((script) => startPython(python, confined, ['-c', script]));
  expect(found).toEqual(NOTHING_DONE);
});

test('outside bubblewrap, it is prevented from starting, connecting to and writing anything', async () => {
  const judge = join(__dirname, '../../src/grading/mathematics/math_verify_judge.py');
  const begin = `import runpy; runpy.run_path(${JSON.stringify(judge)}, run_name="judge")["hinder"](2048)`;
  const found = await tryIn((script) => {
    return startPython(pythonPath(), null, ['-c', `import socket\n${begin}\n${script}`]);
  });
  expect(found).toEqual(NOTHING_DONE);
});
