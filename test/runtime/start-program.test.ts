import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findProgram, PYTHON, runProgram } from '../../src/runtime/start-program';
import { fakeProgram } from '../local/fake-program';
import { freshFolder } from '../local/fresh-folder';

const KEYS = { OPENAI_API_KEY: 'sk-secret', PGPASSWORD: 'hunter2', AWS_SECRET_ACCESS_KEY: 'aws-secret' };

/** Runs `visit` with a folder of planted programs and modules as the working directory. */
async function inFolderOfStranger<T>(visit: (folder: string) => Promise<T>): Promise<T> {
  const before = process.cwd();
  const folder = await fakeProgram(PYTHON, 'touch "$(dirname "$0")/ran"');
  for (const module of ['csv', 'email', 'zipfile', 'pip']) {
    await writeFile(join(folder, `${module}.py`), `open(${JSON.stringify(join(folder, 'ran'))}, 'a')\n`);
  }
  process.chdir(folder);
  try {
    return await visit(folder);
  } finally {
    process.chdir(before);
  }
}

test('a program is looked up only in the absolute folders of PATH', () =>
  inFolderOfStranger(async (folder) => {
    const real = await fakeProgram(PYTHON, 'echo mine');
    const below = join(folder, 'below');
    await mkdir(join(below, PYTHON), { recursive: true });
    for (const relative of ['', '.', './', `../${basename(folder)}`]) {
      expect(findProgram(PYTHON, { PATH: relative })).toBeNull();
      // A folder of that name is not taken for the program.
      expect(findProgram(PYTHON, { PATH: `${relative}:${below}:${real}` })).toBe(join(real, PYTHON));
    }
    expect(findProgram(PYTHON, {})).toBeNull();
    await expect(runProgram(PYTHON, [], { env: { PATH: ':.' } })).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(runProgram(`./${PYTHON}`, [])).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(folder)).not.toContain('ran');
  }));

test('Python loads nothing from the current folder or from PYTHONPATH', () =>
  inFolderOfStranger(async (folder) => {
    const script = 'import importlib.metadata, zipfile, pip, os, sys; print(os.getcwd(), sys.flags.isolated)';
    const env = { ...process.env, PYTHONPATH: ':.', PYTHONHOME: 'no' };
    expect(await runProgram({ python: PYTHON }, ['-c', script], { env })).toBe('/ 1\n');
    expect(await runProgram({ python: PYTHON }, ['-c', script], { env, passes: 'all' })).toBe('/ 1\n');
    expect(await readdir(folder)).not.toContain('ran');
  }));

test('a program sees only the keys that it is given, and looks up nothing in the current folder', async () => {
  const env = {
    ...KEYS,
    PATH: `:.:${process.env.PATH ?? ''}:`,
    HOME: '/home',
    PIP_INDEX_URL: 'https://a.index',
  };
  const seenBy = async (passes?: RegExp | 'all'): Promise<Record<string, string>> => {
    const script = 'import json, os; print(json.dumps(dict(os.environ)))';
    return JSON.parse(await runProgram({ python: PYTHON }, ['-c', script], { env, passes })) as Record<
      string,
      string
    >;
  };
  const plain = await seenBy();
  expect(plain).toMatchObject({ HOME: '/home' });
  expect(Object.values(plain).join(' ')).not.toMatch(/sk-secret|hunter2|aws-secret|a\.index/);
  expect(plain.PATH?.split(':').every((folder) => folder.startsWith('/'))).toBe(true);
  expect(await seenBy(/^PIP_/)).toEqual({ ...plain, PIP_INDEX_URL: 'https://a.index' });
  expect(await seenBy('all')).toEqual({ ...plain, ...KEYS, PIP_INDEX_URL: 'https://a.index' });
});

test('a program is given no PATH rather than an empty one', async () => {
  const folder = await freshFolder();
  const seen = join(folder, 'seen');
  const program = join(await fakeProgram('looks', `env > ${seen}`), 'looks');
  await runProgram(program, [], { env: { PATH: '' }, cwd: dirname(program) });
  expect(await readFile(seen, 'utf8')).not.toMatch(/^PATH=$/m);
});
