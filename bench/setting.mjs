import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const require = createRequire(import.meta.url);
const { embeddedServer } = require('../lib/local/embedded-server.js');
const { ConductorClient, ConductorPlugin, renderPlan } = require('../lib/index.js');

export const BUNDLE = require.resolve('../lib/workflow-bundle.js');
export const LIB = join(BUNDLE, '..');
const WORKERS = ['a', 'b', 'c', 'd', 'e'];

/** The plan of every wall-clock measurement: a and b side by side, then c, which sees both. */
export const FOUR_CALLS = [
  { worker: 'a', subtask: 'First half.', sees: [] },
  { worker: 'b', subtask: 'Second half.', sees: [] },
  { worker: 'c', subtask: 'Both halves together.', sees: [0, 1] },
];

/** Five steps, each of which sees all before it. */
export const CHAIN = WORKERS.map((worker, index) => ({
  worker,
  subtask: `Part ${index + 1}.`,
  sees: [...Array(index).keys()],
}));

export const planText = (steps) => renderPlan({ steps }, WORKERS);

/** A folder with an embedded server of its own, as `up` and `solve` start it. */
export async function openServer() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const server = await embeddedServer({ folder, say: () => undefined });
  const connection = await NativeConnection.connect({ address: server.address });
  return {
    folder,
    address: server.address,
    connection,
    client: new Client({ connection }),
    close: async () => {
      await connection.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A configuration whose models are all behind `url`, at no price and without a key. */
export function configFor(url, storeFolder, taskQueue) {
  const model = (name) => ({ provider: 'openai', model: name, baseUrl: `${url}/v1` });
  return {
    conductor: model('conductor'),
    workers: WORKERS.map((id) => ({ id, ...model(id) })),
    store: `file:${storeFolder}`,
    temporal: { taskQueue, heartbeat: '5s' },
  };
}

/** A worker in this process, with the settings of the embedded one, and a client that shares its connection. */
export async function openSolver(server, url, name) {
  const taskQueue = `bench-${name}`;
  const store = join(server.folder, 'stores', name);
  const config = configFor(url, store, taskQueue);
  const worker = await Worker.create({
    connection: server.connection,
    taskQueue,
    workflowBundle: { codePath: BUNDLE },
    stickyQueueScheduleToStartTimeout: '2s',
    plugins: [new ConductorPlugin({ config })],
  });
  const running = worker.run();
  return {
    config,
    store,
    conductor: new ConductorClient({ client: server.client, store: config.store, taskQueue }),
    close: async () => {
      worker.shutdown();
      await running;
    },
  };
}

/** Simulated providers in a process of their own, so that they take no time of the program that is measured. */
export async function spawnProviders({ delayMs, answerBytes, plan }) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-providers-'));
  const script = join(folder, 'script.json');
  const models = { conductor: { delayMs, answer: planText(plan) } };
  await writeFile(script, JSON.stringify({ models, fallback: { delayMs, answer: 'x'.repeat(answerBytes) } }));
  const child = spawn(process.execPath, [join(LIB, 'testing', 'serve.js'), '--script', script]);
  const [line] = await nextLine(child.stdout);
  return {
    url: line,
    close: async () => {
      child.kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function nextLine(stream) {
  const lines = createInterface({ input: stream });
  for await (const line of lines) {
    lines.close();
    return [line];
  }
  throw new Error('the program ended before its first line');
}
