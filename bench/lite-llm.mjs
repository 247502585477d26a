import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endingWithThis, processorTimeOf } from './setting.mjs';

const run = promisify(execFile);
const MASTER_KEY = 'sk-bench';

/**
 * Starts LiteLLM's proxy, as installed from PyPI, in front of the models at `url`, with one worker process and a key.
 * @param venv virtual environment that has LiteLLM; if absent, a new one is made
 */
export async function startLiteLlm(url, model, venv) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-litellm-'));
  const bin = join(venv ?? (await install(join(folder, 'venv'))), 'bin');
  const params = { model: `openai/${model}`, api_base: `${url}/v1`, api_key: 'none' };
  const config = {
    model_list: [{ model_name: model, litellm_params: params }],
    general_settings: { master_key: MASTER_KEY },
  };
  // JSON is YAML.
  const file = join(folder, 'config.yaml');
  await writeFile(file, JSON.stringify(config));
  const port = await freePort();
  const args = ['--config', file, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'];
  const env = { ...process.env, LITELLM_LOG: 'ERROR', LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
  const child = endingWithThis(spawn(join(bin, 'litellm'), args, { env, stdio: 'ignore', cwd: folder }));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`LiteLLM's proxy ended with ${code}`);
  });
  ended.catch(() => undefined);
  await Promise.race([ended, untilAnswering(`http://127.0.0.1:${port}/health/liveliness`)]);
  const { stdout } = await run(join(bin, 'python'), [
    '-c',
    'import importlib.metadata as m; print(m.version("litellm"))',
  ]);
  return {
    url: `http://127.0.0.1:${port}`,
    secret: MASTER_KEY,
    version: stdout.trim(),
    processorTime: () => processorTimeOfTree(child.pid),
    close: async () => {
      child.kill('SIGTERM');
      await ended.catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function install(venv) {
  await run('python3', ['-m', 'venv', venv]);
  await run(join(venv, 'bin/pip'), ['install', '--quiet', 'litellm[proxy]'], { maxBuffer: 1e8 });
  return venv;
}

async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  await once(server.close(), 'close');
  return port;
}

async function untilAnswering(url) {
  while (
    !(await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await pause(200);
}

/** Sums the processor time of a process and its descendants, in milliseconds. */
async function processorTimeOfTree(root) {
  const parents = new Map();
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : '';
    if (stat !== '') parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]));
  }
  const isBelow = (pid) => pid === root || (parents.has(pid) && isBelow(parents.get(pid)));
  const times = await Promise.all([...parents.keys()].filter(isBelow).map(processorTimeOf));
  return times.reduce((sum, each) => sum + each, 0);
}
