import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { planText, WORKERS } from './plans.mjs';

const require = createRequire(import.meta.url);
const { embeddedServer, runningServer } = require('../lib/local/embedded-server.js');
const { ConductorClient, ConductorPlugin } = require('../lib/index.js');

const BUNDLE = require.resolve('../lib/workflow-bundle.js');
export const LIB = join(BUNDLE, '..');

/** Opens a temporary folder with its own embedded server, started as `up` and `solve` do. */
export async function openServer() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const server = await embeddedServer({ folder, say: () => undefined });
  const connection = await NativeConnection.connect({ address: server.address });
  const record = await runningServer(folder);
  return {
    folder,
    address: server.address,
    connection,
    client: new Client({ connection }),
    processorTime: () => processorTimeOf(record.pid),
    close: async () => {
      await connection.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a process's user and system time in milliseconds, from Linux's tick count; NaN on other systems. */
export async function processorTimeOf(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user, system] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14);
  return (Number(user) + Number(system)) * 10;
}

/**
 * Returns a configuration whose models are all behind `url`, without a key. They have prices, so that limits are
 * checked as in real calls. The cost limit is high, since 200 KB outputs cost more than the default of $1.
 */
export function configFor(url, store, taskQueue) {
  const price = { input: 2, output: 10 };
  const model = (name) => ({ provider: 'openai', model: name, baseUrl: `${url}/v1`, price });
  return {
    conductor: model('conductor'),
    workers: WORKERS.map((id) => ({ id, ...model(id) })),
    limits: { costUsd: 1000 },
    store,
    temporal: { taskQueue, heartbeat: '5s' },
  };
}

/** Returns the URL of a folder's default store. */
export const databaseIn = (folder) => `sqlite:${join(folder, 'store.db')}`;

/** Returns a client of workers with this configuration. */
export const openClient = ({ client }, { store, temporal: { taskQueue } }) =>
  new ConductorClient({ client, store, taskQueue });

/** Starts a worker in this process, with the embedded worker's settings, and a client that shares its connection. */
export async function openSolver(server, url, name, changes = {}, options = {}) {
  const taskQueue = `bench-${name}`;
  const store = databaseIn(join(server.folder, 'stores', name));
  const config = { ...configFor(url, store, taskQueue), ...changes };
  const worker = await Worker.create({
    connection: server.connection,
    taskQueue,
    workflowBundle: { codePath: BUNDLE },
    stickyQueueScheduleToStartTimeout: '2s',
    plugins: [new ConductorPlugin({ config, ...options })],
  });
  const running = worker.run();
  return {
    config,
    conductor: openClient(server, config),
    close: async () => {
      worker.shutdown();
      await running;
    },
  };
}

/** Starts a worker in its own process, with at most `slots` calls at a time. */
export async function startWorker(server, config, slots) {
  const { look, stop } = await startProgram('worker', server, config, { BENCH_SLOTS: String(slots) });
  return { look, stop };
}

/** Starts a gateway in its own process, which answers at `url` to the key `secret`. */
export async function startGateway(server, config) {
  const { ready, look, stop } = await startProgram('gateway', server, config);
  return { ...JSON.parse(ready), look, stop };
}

/** Sends a child SIGTERM when this process exits, unless a signal kills this process. */
export function endingWithThis(child) {
  process.once('exit', () => child.kill('SIGTERM'));
  return child;
}

async function startProgram(name, server, config, env = {}) {
  const program = join(import.meta.dirname, `programs/${name}.mjs`);
  const child = endingWithThis(
    spawn(process.execPath, [program], {
      env: {
        ...process.env,
        TEMPORAL_ADDRESS: server.address,
        BENCH_CONFIG: JSON.stringify(config),
        ...env,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value: ready } = await lines.next();
  return {
    ready,
    look: async () => {
      child.stdin.write('\n');
      // Skips the SDK's logs, which share stdout.
      for (;;) {
        const { value } = await lines.next();
        if (value.startsWith('{')) return JSON.parse(value);
      }
    },
    stop: () => {
      child.stdin.end();
      child.kill('SIGTERM');
    },
  };
}

/** Starts simulated providers in their own process, so that they use no processor time of the measured program. */
export async function spawnProviders({ delayMs, answerBytes, plan, models: others = {} }) {
  const folder = await mkdtemp(join(tmpdir(), 'bench-providers-'));
  const script = join(folder, 'script.json');
  const models = { conductor: { delayMs, answer: planText(plan) }, ...others };
  await writeFile(script, JSON.stringify({ models, fallback: { delayMs, answer: 'x'.repeat(answerBytes) } }));
  const program = [
    '--require',
    join(import.meta.dirname, '../scripts/run-typescript.cjs'),
    join(import.meta.dirname, '../examples/providers/serve.ts'),
  ];
  const child = endingWithThis(spawn(process.execPath, [...program, '--script', script]));
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
