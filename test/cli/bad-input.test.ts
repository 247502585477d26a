import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closedPort } from './closed-port';
import { type CommandSetting, runCommand, said } from './command';
import { type Folder, poolAt } from './folder';
import { useFolder } from './stage';

const POOL = poolAt('http://127.0.0.1:9');
const KEY = 'sk-test-0123456789abcdefghij';

const stage = useFolder();
const inFolder = (): CommandSetting => ({ cwd: stage.folder.path });

interface Case {
  readonly args: readonly string[];
  readonly config?: Parameters<Folder['write']>[1];
  readonly setting?: Omit<CommandSetting, 'cwd'>;
  readonly says: readonly string[];
}

const CASES: Readonly<Record<string, Case>> = {
  'no such command': { args: ['slove', 'x'], says: ['slove', 'solve'] },
  'a seed that is no number': {
    args: ['solve', 'x', '--seed', 'one'],
    says: ['--seed', 'one', 'whole number'],
  },
  'a priority that is none': {
    args: ['solve', 'x', '--priority', '9'],
    says: ['--priority', '9', 'from 1 (first) to 5 (last)'],
  },
  'a tenant with too long a name': {
    args: ['solve', 'x', '--tenant', 'é'.repeat(33)],
    says: ['--tenant', '64 bytes'],
  },
  'a run that is both detached and printed': {
    args: ['solve', 'x', '--detach', '--json'],
    says: ['--detach', '--json'],
  },
  'a configuration that is not there': {
    args: ['solve', 'x', '--config', 'no.yaml'],
    says: ['no.yaml', 'does not exist'],
  },
  'YAML that is none': { args: ['solve', 'x'], config: 'conductor: [', says: ['conductor.yaml:'] },
  'an unknown provider': {
    args: ['solve', 'x'],
    config:
      'conductor: { provider: skynet, model: t }\nworkers: [{ id: a, provider: local, model: smollm2 }]\n',
    says: ['conductor.yaml:1', 'provider', 'skynet', 'openai'],
  },
  'a key variable that is not set': {
    args: ['solve', 'x'],
    config:
      'conductor: { provider: openai, model: m, apiKeyEnv: MY_OWN_KEY }\n' +
      'workers: [{ id: a, provider: local, model: smollm2 }]\n',
    setting: { env: { OPENAI_API_KEY: KEY } },
    says: ['the Conductor', 'MY_OWN_KEY', 'not set'],
  },
  'a worker that the pool has not': {
    args: ['solve', 'x', '--allow', 'alpha,gamma'],
    config: POOL,
    says: ['"gamma"', 'alpha, beta'],
  },
  'a pool that is denied as a whole': {
    args: ['solve', 'x', '--deny', 'alpha', '--deny', 'beta'],
    config: POOL,
    says: ['no worker at all'],
  },
  'a limit on cost that nobody could hold': {
    args: ['solve', 'x', '--max-cost', '0.5', '--deny', 'alpha'],
    config: POOL,
    says: ['--max-cost', 'the Conductor (openai boss), worker beta (openai beta)', 'price:', '--deny beta'],
  },
  'a cost that is no amount': { args: ['solve', 'x', '--max-cost', '$1'], says: ['--max-cost', 'e.g. 0.50'] },
  'a depth that is none': { args: ['depth', 'solve-1', 'deep'], says: ['deep', 'none for no limit'] },
  'a rejection of a plan that is edited': {
    args: ['approve', 'solve-1', '--edit', 'plan.yaml', '--reject', 'too long'],
    says: ['--reject', '--edit'],
  },
  'a plan that is not there': {
    args: ['approve', 'solve-1', '--edit', 'no.yaml'],
    says: ['no.yaml', 'ENOENT'],
  },
  'a retry with a worker that there is not': {
    args: ['retry', 'solve-1', '--from', '1', '--worker', 'gama'],
    config: POOL,
    says: ['no worker "gama"', 'alpha, beta'],
  },
  'a store that cannot be written': {
    args: ['solve', 'x'],
    config: poolAt('http://127.0.0.1:9', { store: 'sqlite:conductor.yaml/store.db' }),
    says: ['no store can be made in', 'conductor.yaml, which is no folder', '"store" in the configuration'],
  },
  'more calls than a result could tell of': {
    args: ['limits', 'solve-1', '--calls', '1000'],
    says: ['from 1 to 200'],
  },
  'steering a run where none ever was': {
    args: ['hint', 'solve-1', 'be brief'],
    config: POOL,
    says: ['no run was ever started'],
  },
  'an empty question': { args: ['solve', ' '], config: POOL, says: ['question is empty'] },
  'a question of 5 MB': {
    args: ['solve', '-'],
    config: POOL,
    setting: { input: 'why? '.repeat(1_000_000) },
    says: ['1048576 bytes', 'shorten'],
  },
  'a detached run without a server that outlives it': {
    args: ['solve', 'x', '--detach'],
    config: POOL,
    says: ['temporal-conductor up', 'TEMPORAL_ADDRESS'],
  },
  'a worker without a server': {
    args: ['worker'],
    config: POOL,
    says: ['TEMPORAL_ADDRESS', 'temporal-conductor up'],
  },
  'a solve in the image, which holds no server': {
    args: ['solve', 'x'],
    config: POOL,
    setting: { env: { CONDUCTOR_IMAGE: '1' } },
    says: ['none can be started here', 'set TEMPORAL_ADDRESS'],
  },
};

test.each(Object.entries(CASES))(
  '%s: a sentence, exit code 2, nothing started',
  async (_, { args, config, setting, says }) => {
    if (config !== undefined) await stage.folder.write('conductor.yaml', config);
    const { code, stdout, stderr } = await runCommand(args, { ...inFolder(), ...setting });
    for (const words of says) expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(stderr).not.toContain(KEY);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(await readdir(stage.folder.path)).toEqual(config === undefined ? [] : ['conductor.yaml']);
  },
);

test('a server that cannot be reached is told for each model, and nothing is started', async () => {
  await stage.folder.write('conductor.yaml', poolAt(`http://127.0.0.1:${await closedPort()}`));
  const { code, stdout } = await runCommand(['pool', 'check'], inFolder());
  expect(stdout).toMatch(/✗ conductor .*could not be reached.*ECONNREFUSED/);
  expect(stdout).toMatch(/✗ beta .*could not be reached.*baseUrl/);
  expect(code).toBe(1);
  expect(await readdir(stage.folder.path)).toEqual(['conductor.yaml']);
});

test('help and version are no errors', async () => {
  const setting = inFolder();
  const [help, version] = await Promise.all([
    runCommand(['--help'], setting),
    runCommand(['--version'], setting),
  ]);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain('Exit codes');
  expect(version).toMatchObject({ code: 0, stdout: said(/^\d+\.\d+\.\d+\n$/) });
});

test('a server that is named and does not answer is an error: none of the folder takes its place', async () => {
  await stage.folder.write('conductor.yaml', POOL);
  const setting = { ...inFolder(), env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } };
  const { code, stderr } = await runCommand(['solve', 'x'], setting);
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: said('nothing answers at 127.0.0.1:9 (TEMPORAL_ADDRESS)'),
  });
  expect(await readdir(stage.folder.path)).toEqual(['conductor.yaml']);
});

test.each([
  [['--max-cost', '0.5'], 'No question given, so here is a sample'],
  [['--approve', 'all', '--priority', '9'], '--priority'],
  [['--max-cost', '0.5', 'Why?'], 'temporal-conductor: --max-cost cannot be enforced'],
])('npm start -- %j: what belongs to an option is no question', async (args, beginning) => {
  await stage.folder.write('conductor.yaml', POOL);
  const start = join(__dirname, '..', '..', 'scripts', 'start.mjs');
  const ran = promisify(execFile)(process.execPath, [start, ...args], inFolder());
  const { stderr } = await ran.catch((error: unknown) => error as { stderr: string });
  expect(stderr.split('\n').find((line) => !line.startsWith('limits.'))).toContain(beginning);
});
