import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { quantile, time } from './numbers.mjs';
import {
  CHAIN,
  configFor,
  FOUR_CALLS,
  LIB,
  nextLine,
  openSolver,
  planText,
  spawnProviders,
} from './setting.mjs';

/** How long a crash could still cost a second purchase after an answer's last byte was sent. */
export async function measureWindow(server) {
  const providers = await startSimulatedProviders();
  const solver = await openSolver(server, providers.url, 'window');
  providers.answer('conductor', planText(CHAIN));
  for (let run = 0; run < 10; run += 1) await solver.conductor.solve({ question: `How long? ${run}` });
  await solver.close();
  await providers.close();

  const folder = join(solver.store, 'answers');
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.json'));
  const kept = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).mtimeMs));
  // The calls of a chain come one after the other, so the n-th answer that was sent is the n-th that was kept.
  const sent = providers.log.map(({ respondedAt }) => respondedAt).sort((a, b) => a - b);
  const windows = kept.sort((a, b) => a - b).map((at, index) => at - sent[index]);
  const [middle, most] = [quantile(windows), Math.max(...windows)];
  return [
    ['last byte of an answer → kept in the store, median', ms(middle), '< 50 ms', middle < 50],
    [`the same, longest of ${windows.length}`, ms(most), '< 50 ms', most < 50],
  ];
}

/** From `cancel` to the closed HTTP connection, with the embedded heartbeat of 5 s. */
export async function measureCancel(server) {
  const providers = await startSimulatedProviders({ fallback: { answer: { fault: 'hang' } } });
  const solver = await openSolver(server, providers.url, 'cancel');
  providers.answer('conductor', planText(FOUR_CALLS.slice(0, 1)));
  const delays = [];
  for (let run = 1; run <= 4; run += 1) {
    const { id } = await solver.conductor.start({ question: 'How soon?', heartbeatMs: 5000 });
    const { sequence } = await providers.waitForRequest(({ sequence }) => sequence === 2 * run);
    delays.push(
      await time(async () => {
        await solver.conductor.cancel(id);
        await providers.waitForClose(sequence);
      }),
    );
  }
  await solver.close();
  await providers.close();
  const most = Math.max(...delays);
  return [[`cancel → connection closed, longest of ${delays.length}`, seconds(most), '≤ 5 s', most <= 5000]];
}

/** From `kill -9` of the worker in mid-call, with another started at once, to the end of the run. */
export async function measureRecovery(server) {
  const providers = await startSimulatedProviders({ fallback: { delayMs: 500 } });
  const solver = await openSolver(server, providers.url, 'recovery');
  await solver.close();
  providers.answer('conductor', { text: planText(FOUR_CALLS), delayMs: 500 });
  const first = await spawnWorker(server, solver.config);
  const { id } = await solver.conductor.start({ question: 'How soon again?', heartbeatMs: 5000 });
  await providers.waitForRequest(({ model }) => model === 'b');
  let second;
  const took = await time(async () => {
    first.kill('SIGKILL');
    second = await spawnWorker(server, solver.config);
    for await (const { status } of solver.conductor.watch(id)) if (status === 'completed') break;
  });
  second.kill('SIGTERM');
  await once(second, 'exit');
  await providers.close();
  return [['kill -9 of the worker in mid-call → run finished', seconds(took), '≤ 12 s', took <= 12_000]];
}

/** The command line from its start to its end, with a server of its own and answers that take no time. */
export async function measureStart(server) {
  const providers = await spawnProviders({ delayMs: 0, answerBytes: 100, plan: FOUR_CALLS });
  const cwd = join(server.folder, 'start');
  const config = join(server.folder, 'start.json');
  await writeFile(config, JSON.stringify(configFor(providers.url, join(cwd, 'store'), 'start')));
  const once_ = (run) =>
    time(async () => {
      const folder = `${cwd}-${run}`;
      const args = [join(LIB, 'cli', 'main.js'), 'solve', '--config', config, 'How long does it take?'];
      const { mkdir } = await import('node:fs/promises');
      await mkdir(folder);
      const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore', env: withoutServer() });
      await once(child, 'exit');
    });
  const times = [await once_(1), await once_(2), await once_(3)];
  await providers.close();
  const middle = quantile(times);
  return [['`solve` from start to end, new server and database', seconds(middle), '≤ 1.5 s', middle <= 1500]];
}

async function spawnWorker(server, config) {
  const program = fileURLToPath(new URL('./programs/worker.mjs', import.meta.url));
  const env = { ...process.env, TEMPORAL_ADDRESS: server.address, BENCH_CONFIG: JSON.stringify(config) };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await nextLine(child.stdout);
  return child;
}

function withoutServer() {
  const { TEMPORAL_ADDRESS: _, ...env } = process.env;
  return env;
}

const ms = (value) => `${value.toFixed(1)} ms`;
const seconds = (value) => `${(value / 1000).toFixed(1)} s`;
