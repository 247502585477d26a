import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { checkGpu } from '../../../src/cli/train/check-gpu';
import { parseTrainable, trainingOf } from '../../../src/training/config';

const { env } = process;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpu-'));
  await mkdir(join(folder, 'model'));
  process.env = { ...env, PATH: [folder, env.PATH].join(delimiter), TRAINER_PYTHON: '', CONDUCTOR_VLLM: '' };
});

afterEach(async () => {
  process.env = env;
  await rm(folder, { recursive: true });
});

/** Puts a program on the PATH, and beside the other stand-ins. */
async function install(name: string, script: string): Promise<void> {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

async function look(device: 'cpu' | 'cuda' = 'cuda') {
  const config = parseTrainable({
    conductor: { provider: 'openai', model: 'm' },
    workers: [{ id: 'a', provider: 'openai', model: 'm' }],
    training: {
      data: { train: 'a.jsonl', heldOut: 'b.jsonl' },
      base: { kind: 'folder', path: join(folder, 'model') },
      policy: { baseUrl: 'http://127.0.0.1:9/v1', serve: { engine: 'vllm' } },
      trainer: { device, processes: 2 },
    },
  });
  const found = await checkGpu(trainingOf(config), config);
  return found.map(({ what, state, text }) => `${state} ${what}: ${text}`);
}

const SMI = `
case "$1" in
  --query*) echo '0, NVIDIA H200, 143771, 2048, 570.86.10'; echo '1, NVIDIA H200, 143771, 0, 570.86.10';;
  *) echo '| NVIDIA-SMI 570.86.10   Driver Version: 570.86.10   CUDA Version: 13.2 |';;
esac`;

const versions = (torch: string, vllm: string | null): string =>
  `echo '${JSON.stringify({ torch, cuda: '13.10', vllm })}'`;

test('tells GPUs, versions that were not tried together, and what a night would need', async () => {
  await install('nvidia-smi', SMI);
  await install('vllm', 'exit 1');
  await install('python', versions('2.15.1', '0.32.0'));
  await install(
    'temporal-conductor-trainer',
    'grep -q \'"processes":2\' && echo \'{"process": 25.7e9, "check": 2e10, "host": 3.5e10, "checkpoint": 1e9}\'',
  );
  expect(await look()).toEqual([
    'fine GPU: 0: NVIDIA H200, 140 GiB, 2 in use; driver 570.86.10, CUDA up to 13.2',
    'fine GPU: 1: NVIDIA H200, 140 GiB, 0 in use; driver 570.86.10, CUDA up to 13.2',
    'note PyTorch: 2.15.1 is built for CUDA 13.10, and the driver supports 13.2 at most: install a newer driver, or PyTorch for an older CUDA',
    'fine vLLM: 0.32.0 with PyTorch 2.15.1',
    'fine Night: an update takes about 25.7 GB and the check of a promotion 20.0 GB of GPU memory in each of 2 processes, ' +
      "loading and saving 35.0 GB of the machine's memory, and a checkpoint 1.00 GB on the disk",
  ]);
});

test('each missing part is one line', async () => {
  process.env.PATH = folder;
  process.env.CONDUCTOR_CACHE = folder;
  const none = 'none is seen by nvidia-smi (no absolute folder of PATH holds nvidia-smi)';
  expect(await look('cpu')).toContain(
    `fine GPU: ${none}, and none is needed: training.trainer.device is cpu`,
  );
  const [gpu, torch, vllm, night, ...rest] = await look();
  expect(gpu).toBe(
    `note GPU: ${none}: training.trainer.device is cuda, so the trainer must run on another machine`,
  );
  expect(torch).toMatch(/^broken PyTorch: the trainer is not installed: /);
  expect(vllm).toMatch(/^broken vLLM: training\.policy\.serve names vLLM, which is not installed: /);
  expect(night).toMatch(/^broken Night: the trainer is not installed: /);
  expect(rest).toEqual([]);
});

test('an estimate that fails says why, in its last line', async () => {
  await install('python', versions('2.13.0', null));
  const why = 'The estimate cannot start: config.json does not describe a trainable model';
  await install('temporal-conductor-trainer', `echo warning >&2; echo '${why}' >&2; exit 1`);
  process.env.CONDUCTOR_VLLM = join(folder, 'python');
  expect(await look()).toEqual([
    expect.stringContaining('note GPU'),
    'fine PyTorch: 2.13.0 for CUDA 13.10',
    'note vLLM: it is not installed where CONDUCTOR_VLLM says: see docs/gpu.md',
    `note Night: no estimate: ${why}`,
  ]);
});
