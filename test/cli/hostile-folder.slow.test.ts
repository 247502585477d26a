import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { PERSON_AT_TERMINAL } from '../../src/cli/kit/view/approval';
import { findTemporalCli } from '../../src/local/downloads';
import { findProgram, PYTHON } from '../../src/runtime/start-program';
import { type SimulatedProviders, startSimulatedProviders } from '../../src/testing';
import { fakeProgram } from '../local/fake-program';
import { freshFolder } from '../local/fresh-folder';
import { closedPort } from '../support/closed-port';
import { runCommand, type RunningCommand, said, startCommand } from './command';
import { type Folder, makeFolder, poolAt, trainingOf } from './folder';

/** Programs that commands start and modules that these load: a stranger would plant files with these names. */
const PROGRAMS = ['python3', 'python', 'temporal', 'temporal-conductor-trainer', 'bwrap', 'prlimit'];
const MORE_PROGRAMS = ['ps', 'lsof', 'sh', 'env', 'node', 'pip', 'my-editor', 'my-program'];
const MODULES = ['csv', 'zipfile', 'pip', 'json', 'argparse', 'asyncio', 'sitecustomize', 'usercustomize'];
const MORE_MODULES = ['math_verify', 'sympy', 'temporalio', 'conductor_trainer'];
const PLACES = ['', 'bin'];

const SECRET = 'sk-secret-0123456789abcdefghij';

let folder: Folder;
let providers: SimulatedProviders;
let up: RunningCommand;
/** Log of the stranger's files that were run, one per line. */
let traces: string;
/** Folder of the user's own programs, which record what they see. */
let own: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await makeFolder();
  traces = join(await freshFolder(), 'ran');
  await writeFile(traces, '');
  for (const place of PLACES) await fillFolder(join(folder.path, place));
  own = await fakeProgram('my-program', 'exit 0');
  await putWitness(PYTHON, findProgram(PYTHON) ?? '');
  await putWitness('temporal', (await findTemporalCli({ env: process.env, say: () => undefined })).path);
  await putWitness('my-editor', '/bin/true');
  env = {
    PATH: ['', '.', 'bin', './bin', own, process.env.PATH, ''].join(delimiter),
    PYTHONPATH: ':.:bin',
    VIRTUAL_ENV: '.',
    OPENAI_API_KEY: SECRET,
    PGPASSWORD: SECRET,
  };
  providers = await startSimulatedProviders({
    models: { boss: { answer: 'no plan' }, alpha: { answer: '[0,2]\\cup[2,3]' } },
  });
  for (const id of ['train', 'held-out']) {
    const question = { id, question: `Which numbers of ${id}?`, answer: '[0,3]', grader: 'math' };
    await folder.write(`${id}.jsonl`, `${JSON.stringify(question)}\n`);
  }
  const data = { train: 'train.jsonl', heldOut: 'held-out.jsonl' };
  const training = trainingOf({ data, policy: { baseUrl: `http://127.0.0.1:${await closedPort()}/v1` } });
  await folder.write('conductor.yaml', { ...poolAt(providers.url), training });
  up = startCommand(['up'], { cwd: folder.path, env });
  await up.hear(/^Ready/m);
});

afterAll(async () => {
  await up.end('SIGINT');
  await providers.close();
  await folder.remove();
});

async function fillFolder(place: string): Promise<void> {
  await mkdir(join(place, 'email'), { recursive: true });
  for (const name of [...PROGRAMS, ...MORE_PROGRAMS]) {
    await writeFile(join(place, name), `#!/bin/sh\necho ${name} >>${traces}\n`, { mode: 0o755 });
  }
  for (const name of ['email/__init__', ...MODULES, ...MORE_MODULES]) {
    await writeFile(join(place, `${name}.py`), `open(${JSON.stringify(traces)}, 'a').write('${name}\\n')\n`);
  }
}

/** Writes a wrapper of a program that records its environment and working folder in a file beside it. */
async function putWitness(name: string, real: string): Promise<string> {
  const program = join(own, name);
  const script = `(/usr/bin/env; echo "IN=$(pwd)") >>${program}.saw\nexec ${real} "$@"`;
  await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return program;
}

const seenBy = (name: string): Promise<string> => readFile(join(own, `${name}.saw`), 'utf8');

test('the planted files would run if they were found', async () => {
  const python = findProgram(PYTHON) ?? '';
  const setting = { cwd: folder.path, env };
  execFileSync('/bin/sh', ['-c', 'python3; temporal'], setting);
  execFileSync(python, ['-c', 'import csv, email'], { cwd: folder.path, env: { PYTHONSAFEPATH: '' } });
  const ran = await readFile(traces, 'utf8');
  for (const name of ['python3', 'temporal', 'csv', 'email/__init__']) expect(ran).toContain(`${name}\n`);
  await rm(traces);
  await writeFile(traces, '');
});

describe('in an untrusted folder that is also on PATH, no file of it is run by', () => {
  afterEach(async () => {
    expect(await readFile(traces, 'utf8')).toBe('');
  });

  test.each([
    [['doctor'], 1, /✓ Python +pip \d[^]*✓ Temporal CLI[^]*Mathematics +compute-engine \S+ alone/],
    [['solve', 'Where?', '--json'], 0, /\[0,2\]/],
    [['eval', 'train.jsonl', '--methods', 'worker:alpha', '--max-cost', 'none'], 0, /worker:alpha/],
    [['train', 'start'], 0, /Mathematics|Trainer/],
    [['train', 'status', '--json'], 0, /compute-engine \S+ alone/],
    [['server', '--', 'my-program'], 0, /^/],
  ])('%j', async (args, code, printed) => {
    const ended = await runCommand(args, { cwd: folder.path, env });
    expect({ ...ended, stdout: `${ended.stdout}${ended.stderr}` }).toMatchObject({
      code,
      stdout: said(printed),
    });
  });

  test('`train up`, whose trainer is given the environment', async () => {
    const TRAINER_PYTHON = await putWitness('trainer-python', findProgram(PYTHON) ?? '');
    const ended = await runCommand(['train', 'up'], { cwd: folder.path, env: { ...env, TRAINER_PYTHON } });
    // This Python has none of the trainer's libraries.
    expect(ended.stderr).toMatch(/cannot start: the Python package (torch|temporalio) is not installed/);
    expect(await seenBy('trainer-python')).toContain(SECRET);
  });

  test('an approval, whose editor is the user’s own', async () => {
    const before = { cwd: process.cwd(), env: { ...process.env } };
    process.chdir(folder.path);
    Object.assign(process.env, env, { VISUAL: '', EDITOR: 'my-editor' });
    try {
      expect(await PERSON_AT_TERMINAL.edit('steps: []')).toBe('steps: []');
    } finally {
      process.chdir(before.cwd);
      process.env = before.env;
    }
    expect(await seenBy('my-editor')).not.toContain(`IN=${folder.path}`);
  });
});

test.each([PYTHON, 'temporal'])('%s saw no key, and did not run in the untrusted folder', async (name) => {
  const seen = await seenBy(name);
  expect(seen).toContain('PATH=');
  expect(seen).not.toContain(SECRET);
  expect(seen).not.toContain(`IN=${folder.path}\n`);
});
