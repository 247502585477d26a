import { execFile, spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closedPort } from '../support/closed-port';
import { type CommandSetting, endedWith, said } from './command';
import { type Folder, poolAt } from './folder';
import { useFolder } from './stage';

const POOL = poolAt('http://127.0.0.1:9');
const KEY = 'sk-test-0123456789abcdefghij';

const stage = useFolder();

/** Arguments separated by spaces, words expected on stderr, the configuration file, and other settings. */
type Row = [
  args: string,
  says: readonly string[],
  config?: Parameters<Folder['write']>[1],
  setting?: Omit<CommandSetting, 'cwd'>,
];

const LOCAL = 'workers: [{ id: a, provider: local, model: smollm2 }]\n';
const STRANGE = `conductor: { provider: skynet, model: t }\n${LOCAL}`;
const KEYED = `conductor: { provider: openai, model: m, apiKeyEnv: MY_OWN_KEY }\n${LOCAL}`;
const NO_FOLDER = poolAt('http://127.0.0.1:9', { store: 'sqlite:conductor.yaml/store.db' });
const UNPRICED = [
  '--max-cost',
  'the Conductor (openai boss), worker beta (openai beta)',
  'price:',
  '--deny beta',
];

const ROWS: Row[] = [
  ['slove x', ['slove', 'solve']],
  ['solve x --seed one', ['--seed', 'one', 'whole number']],
  ['solve x --priority 9', ['--priority', '9', 'from 1 (first) to 5 (last)']],
  [`solve x --tenant ${'é'.repeat(33)}`, ['--tenant', '64 bytes']],
  ['solve', ['a question, or --messages']],
  ['solve x --messages y.json', ['a question, or --messages']],
  ['solve x --detach --json', ['--detach', '--json']],
  ['solve x --config no.yaml', ['no.yaml', 'does not exist']],
  ['solve x --max-cost $1', ['--max-cost', 'e.g. 0.50']],
  ['depth solve-1 deep', ['deep', 'none for no limit']],
  ['approve solve-1 --edit plan.yaml --reject long', ['--reject', '--edit']],
  ['approve solve-1 --edit no.yaml', ['no.yaml', 'does not exist']],
  // The questions are read before a key is asked for.
  ['eval no.jsonl', ['no.jsonl', 'does not exist'], KEYED],
  ['limits solve-1 --calls 1000', ['from 1 to 200']],
  ['limits solve-1 --steps 51', ['51', 'from 1 to 50']],
  ['solve x --max-cost=-1', ['-1', 'an amount of USD from 0 to 1000000']],
  ['hint solve-1 ', ['the hint has 0 bytes', 'at least a word']],
  ['approve solve-1 --reject ', ['reason', 'at least a word']],
  ['list --state done', ['done', 'waiting, running, failed, completed, cancelled']],
  ['train schedule --at 25:00', ['--at', '25:00', 'a time of day such as 03:30']],
  ['train schedule --at 3:5', ['--at', '3:5', 'a time of day such as 03:30']],
  ['train schedule --timezone Mars/Olympus', ['--timezone', 'Mars/Olympus', 'Europe/Berlin']],
  ['train start --date 2026-02-30', ['--date', '2026-02-30', 'a date']],
  ['train start --from ../x', ['--from', '../x', 'a checkpoint such as nightly/000040']],
  ['solve x', ['conductor.yaml:'], 'conductor: ['],
  ['solve x', ['conductor.yaml:1', 'provider', 'skynet', 'openai'], STRANGE],
  ['solve x', ['the Conductor', 'MY_OWN_KEY', 'not set'], KEYED, { env: { OPENAI_API_KEY: KEY } }],
  ['solve x', ['cannot create a store in', 'conductor.yaml, which is not a folder', '"store" in'], NO_FOLDER],
  ['solve x --allow alpha,gamma', ['"gamma"', 'alpha, beta'], POOL],
  ['solve x --deny alpha --deny beta', ['leaves no worker'], POOL],
  ['solve x --max-cost 0.5 --deny alpha', UNPRICED, POOL],
  ['retry solve-1 --from 1 --worker gama', ['no worker "gama"', 'alpha, beta'], POOL],
  ['hint solve-1 brevity', ['no run was ever started'], POOL],
  ['solve ', ['question is empty'], POOL],
  ['solve -', ['1048576 bytes', 'shorten'], POOL, { input: 'why? '.repeat(1_000_000) }],
  ['solve x --detach', ['temporal-conductor up', 'TEMPORAL_ADDRESS'], POOL],
  ['worker', ['TEMPORAL_ADDRESS', 'temporal-conductor up'], POOL],
  ['solve x', ['none can be started here', 'TEMPORAL_ADDRESS'], POOL, { env: { CONDUCTOR_IMAGE: '1' } }],
];

test.each<Row>(ROWS)(
  '%s: says %j, exits with code 2, and starts nothing',
  // With separate parameters, Jest would pass its `done` callback for one that a row leaves out.
  async (...[args, says, config, setting]: Row) => {
    if (config !== undefined) await stage.folder.write('conductor.yaml', config);
    const { code, stdout, stderr } = await stage.start(args.split(' '), setting).ended;
    for (const words of says) expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(stderr).not.toContain(KEY);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(await readdir(stage.folder.path)).toEqual(config === undefined ? [] : ['conductor.yaml']);
  },
);

test('an unreachable server is reported for each model, and nothing is started', async () => {
  await stage.folder.write('conductor.yaml', poolAt(`http://127.0.0.1:${await closedPort()}`));
  const { code, stdout } = await stage.run('pool', 'check');
  expect(stdout).toMatch(/✗ conductor .*could not be reached.*ECONNREFUSED/);
  expect(stdout).toMatch(/✗ beta .*could not be reached.*baseUrl/);
  expect(code).toBe(1);
  expect(await readdir(stage.folder.path)).toEqual(['conductor.yaml']);
});

test('help and version are not errors', async () => {
  const [help, version] = await Promise.all([stage.run('--help'), stage.run('--version')]);
  expect(help).toMatchObject({ code: 0, stdout: said('Exit codes') });
  expect(version).toMatchObject({ code: 0, stdout: said(/^\d+\.\d+\.\d+\n$/) });
});

test('a named server that does not answer is an error, and no server of the folder replaces it', async () => {
  await stage.folder.write('conductor.yaml', POOL);
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:9' };
  const silence = 'nothing answers at 127.0.0.1:9 (TEMPORAL_ADDRESS)';
  expect(await stage.start(['solve', 'x'], { env }).ended).toMatchObject(endedWith(1, silence));
  expect(await readdir(stage.folder.path)).toEqual(['conductor.yaml']);
});

test.each([
  [['--max-cost', '0.5'], 'error: give either a question'],
  [['--approve', 'all', '--priority', '9'], '--priority'],
  [['--max-cost', '0.5', 'Why?'], 'temporal-conductor: --max-cost cannot be enforced'],
])('npm start -- %j: the value of an option is not taken for the question', async (args, beginning) => {
  await stage.folder.write('conductor.yaml', POOL);
  const start = join(__dirname, '..', '..', 'scripts', 'start.mjs');
  const ran = promisify(execFile)(process.execPath, [start, ...args], { cwd: stage.folder.path });
  const { stderr } = await ran.catch((error: unknown) => error as { stderr: string });
  expect(stderr.split('\n').find((line) => !line.startsWith('limits.'))).toContain(beginning);
});

test('a folder whose name is not UTF-8 is refused, and no other one is made in its place', async () => {
  const main = join(__dirname, '../../lib/cli/main.js');
  const script = 'folder="$(printf "bad\\377")"; mkdir "$folder"; cd "$folder"; exec "$@"';
  const command = ['-c', script, 'sh', process.execPath, main, 'list'];
  const { status, stderr } = spawnSync('sh', command, { cwd: stage.folder.path, encoding: 'utf8' });
  expect(stderr).toMatch(
    /^temporal-conductor: the name of the current folder, ".*bad\ufffd", leads to another one/,
  );
  expect(status).toBe(2);
  expect(await readdir(stage.folder.path)).toHaveLength(1);
});
