import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listen } from '../../../src/network/listen';
import type { TrainableInput } from '../../../src/training';
import { closedPort } from '../../support/closed-port';
import { type RunningCommand, endedWith } from '../command';
import { poolAt, serverRuns, trainingOf } from '../folder';
import { useFolder } from '../stage';
import { until, untilGone } from '../../support/until';
import { installStandIn, startsOf } from './stand-in-programs';

const stage = useFolder();
let baseUrl: string;
let PATH: string;

beforeEach(async () => {
  baseUrl = `http://127.0.0.1:${await closedPort()}/v1`;
  PATH = await installStandIn(stage.folder);
  await configure();
});

async function configure(training: TrainableInput['training'] = {}): Promise<void> {
  const section = trainingOf({ policy: { baseUrl }, ...training });
  await stage.folder.write('conductor.yaml', { ...poolAt('http://127.0.0.1:1'), training: section });
}

const startTrainUp = (...options: string[]): RunningCommand =>
  stage.start(['train', 'up', ...options], { env: { PATH } });

async function pidsOf(): Promise<number[]> {
  const programs = ['worker', 'policy-server'] as const;
  const starts = await Promise.all(programs.map((program) => startsOf(stage.folder, program)));
  return starts.flat().map(({ pid }) => pid);
}

test('starts all that a night needs with the right addresses, keeps it running, and stops it on Ctrl-C', async () => {
  await stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:1'));
  const init = ['train', 'init', '--policy-server', baseUrl, '--checkpoints', 'kept'];
  expect(await stage.start(init).ended).toMatchObject({ code: 0 });
  const up = startTrainUp();
  const [, address = ''] = await up.hear(/^Temporal +(\S+),/m);
  await up.hear(/^Ready/m);
  const [trainer] = await startsOf(stage.folder, 'worker');
  const [server] = await startsOf(stage.folder, 'policy-server');
  expect(trainer?.address).toBe(address);
  const place = (name: string): string => join(stage.folder.path, name);
  const shared = `--artifacts ${place('.conductor/artifacts')} --checkpoints ${place('kept')} --end-with-stdin`;
  expect(trainer?.args.join(' ')).toBe(
    `--allow-server ${baseUrl} --export-root ${place('exported')} --task-queue conductor-trainer --namespace default ` +
      `--drain-seconds 25 ${shared}`,
  );
  expect(server?.args.join(' ')).toBe(`--host 127.0.0.1 --port ${new URL(baseUrl).port} ${shared}`);
  process.kill(trainer?.pid ?? 0, 'SIGKILL');
  await up.hear(/The trainer in process \d+ was killed by SIGKILL.*again[^]*The trainer is working again/);
  expect(await startsOf(stage.folder, 'worker')).toHaveLength(2);
  expect(await up.end('SIGINT')).toMatchObject(endedWith(0, /^Waiting for [^]*^Trainer +/m));
  await untilGone(...(await pidsOf()));
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('uses an existing base model and policy server, and leaves nothing running when it is killed', async () => {
  const path = join(stage.folder.path, 'models', 'small');
  await mkdir(path, { recursive: true });
  await configure({ base: { kind: 'folder', path: 'models/small' } });
  const { port } = new URL(baseUrl);
  const given = await listen(
    createServer((_, response) => response.end('{}')),
    Number(port),
    '127.0.0.1',
  );
  try {
    const up = startTrainUp();
    await up.hear(new RegExp(`^Policies +${baseUrl}, a server that was started elsewhere`, 'm'));
    await up.hear(/^Ready/m);
    up.signal('SIGKILL');
    const pids = await pidsOf();
    expect(pids).toHaveLength(1);
    const [trainer] = await startsOf(stage.folder, 'worker');
    expect(trainer?.args.join(' ')).toContain(`--base-root ${path}`);
    await up.ended;
    await untilGone(...pids);
    await until(
      () => serverRuns(stage.folder),
      (runs) => !runs,
    );
  } finally {
    await given.close();
  }
});

const GPU = { device: 'cuda', precision: 'bfloat16' } as const;
const ADAPTERS = '--model BASE --enable-lora --max-loras 4 --max-lora-rank 64';
const ON_PROCESSOR = ' --enforce-eager --lora-target-modules k_proj q_proj';

test.each([
  ['lora', GPU, 'fetching-server', ADAPTERS, ''],
  ['lora', { device: 'cpu', precision: 'float32' }, 'fetching-server', ADAPTERS, ON_PROCESSOR],
  ['full', GPU, 'restarting-server', '--model {folder} --served-model-name {model}', ''],
] as const)('starts vLLM for %s on %j behind the %s that ends with it', async (...given) => {
  const [kind, trainer, program, model, more] = given;
  const path = join(stage.folder.path, 'base');
  await mkdir(path);
  await writeFile(join(path, 'model.safetensors'), WEIGHTS);
  const tuning = kind === 'lora' ? { kind, rank: 33 } : { kind };
  await configure({
    base: { kind: 'folder', path: 'base' },
    policy: { baseUrl, serve: { engine: 'vllm', gpus: [2, 3], memoryShare: 0.5 } },
    trainer: { ...trainer, tuning },
  });
  // Any file will do: only the server behind it would run it.
  const up = stage.start(['train', 'up'], { env: { PATH, CONDUCTOR_VLLM: process.execPath } });
  await up.hear(new RegExp(`^Policies +${baseUrl}, vLLM on `, 'm'));
  await up.hear(/^Ready/m);
  const [server] = await startsOf(stage.folder, program);
  const [options, command] = server?.args.join(' ').split(' -- ') ?? [];
  expect(options).toMatch(
    /^--host 127\.0\.0\.1 --port \d+ --artifacts \S+ --checkpoints \S+ --end-with-stdin$/,
  );
  expect(command).toBe(
    `${process.execPath} -m vllm.entrypoints.openai.api_server ${model.replace('BASE', path)} --host 127.0.0.1 ` +
      `--port {port} --dtype ${trainer.precision} --max-model-len 672 --logprobs-mode processed_logprobs ` +
      `--gpu-memory-utilization 0.5 --tensor-parallel-size 2${more}`,
  );
  expect(server?.gpus).toBe('2,3');
  expect((await up.end('SIGINT')).code).toBe(0);
  await untilGone(server?.pid ?? 0);
});

/** A file of weights that has nothing but its head. */
const WEIGHTS = weightsOf({
  'model.embed_tokens.weight': [8, 4],
  'model.layers.0.self_attn.k_proj.weight': [4, 4],
  'model.layers.0.norm.weight': [4],
  'model.layers.1.self_attn.q_proj.weight': [4, 4],
  'lm_head.weight': [8, 4],
});

function weightsOf(shapes: Record<string, number[]>): Buffer {
  const tensors = Object.entries(shapes).map(([name, shape]) => [name, { dtype: 'F32', shape }]);
  const head = Buffer.from(JSON.stringify(Object.fromEntries(tensors)));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(head.length));
  return Buffer.concat([size, head]);
}

test('says in one sentence why vLLM cannot be started', async () => {
  await mkdir(join(stage.folder.path, 'base'));
  const policy = { baseUrl, serve: { engine: 'vllm' as const } };
  await configure({ base: { kind: 'folder', path: 'base' }, policy });
  const refused = async (env: Record<string, string>, words: string): Promise<void> => {
    expect(await stage.start(['train', 'up'], { env: { PATH, ...env } }).ended).toMatchObject(
      endedWith(2, words),
    );
  };
  await refused({}, 'training.policy.serve names vLLM, which is not installed: "pip install vllm"');
  await refused({ CONDUCTOR_VLLM: 'vllm' }, 'CONDUCTOR_VLLM is vllm, which is no absolute path');
  const { port } = new URL(baseUrl);
  const given = await listen(
    createServer((request) => request.socket.destroy()),
    Number(port),
    '127.0.0.1',
  );
  await refused(
    { CONDUCTOR_VLLM: process.execPath },
    `${baseUrl} is taken by a program that is no policy server`,
  );
  await given.close();
  await stage.folder.write('fetching-server.broken', '');
  await configure({ base: { kind: 'folder', path: 'base' }, policy, trainer: { tuning: { kind: 'lora' } } });
  const up = stage.start(['train', 'up'], { env: { PATH, CONDUCTOR_VLLM: process.execPath } });
  expect(await up.ended).toMatchObject(endedWith(1, 'The fetching-server cannot start: it is broken.'));
  await untilGone(...(await pidsOf()));
});

test('runs only once in a folder, even beside an `up`; a second one names the process of the first', async () => {
  const first = startTrainUp();
  await first.hear(/^Ready/m);
  const there = `"train up" runs in this folder already, in process ${first.pid}: use that one, or stop it first`;
  expect(await startTrainUp().ended).toMatchObject(endedWith(2, there));
  const up = await stage.startReady(['up']);
  expect((await up.end('SIGINT')).code).toBe(0);
  const pids = await pidsOf();
  expect(pids).toHaveLength(2);
  await first.end('SIGKILL');
  await untilGone(...pids);
  const next = startTrainUp();
  await next.hear(/^Ready/m);
  expect((await next.end('SIGINT')).code).toBe(0);
});

test('ends with the reason, and stops the rest, if one program cannot start', async () => {
  await stage.folder.write('worker.broken', '');
  expect(await startTrainUp().ended).toMatchObject(endedWith(1, 'The worker cannot start: it is broken.'));
  await untilGone(...(await pidsOf()));
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('as JSON, each line is an object, what a program of Python writes included', async () => {
  await stage.folder.write('worker.broken', '');
  const { code, stderr } = await startTrainUp('--log-format', 'json').ended;
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
  expect(lines).toContainEqual(
    expect.objectContaining({ message: 'The worker cannot start: it is broken.' }),
  );
  expect(code).toBe(1);
});

test('names a missing model, trainer or section before anything is started', async () => {
  const refused = async (env: Record<string, string>, words: string | RegExp): Promise<void> => {
    const up = stage.start(['train', 'up'], { env: { CONDUCTOR_CACHE: stage.folder.path, PATH, ...env } });
    expect(await up.ended).toMatchObject(endedWith(2, words));
  };
  const own = process.env.PATH ?? '';
  await refused({ PATH: own }, /trainer is not installed: make .* with "node \S+prepare-trainer\.mjs"/);
  const wrong = 'TRAINER_PYTHON is /no/python, which is no absolute path of a file that is there';
  await refused({ TRAINER_PYTHON: '/no/python' }, wrong);
  await configure({ base: { kind: 'folder', path: 'models/small' } });
  await refused({}, 'training.base.path is models/small, and there is no such folder');
  await stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:1'));
  await refused({}, 'no "training:": have it written with "temporal-conductor train init"');
});
