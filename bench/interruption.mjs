import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { seconds, time } from './numbers.mjs';
import { FOUR_CALLS, planText } from './plans.mjs';
import { rate } from './rows.mjs';
import { nextLine, openSolver } from './setting.mjs';

/** Measures the time from `cancel` to the closed HTTP connection, with the embedded worker's heartbeat of 5 s. */
export async function measureCancel(server, { cancels }) {
  const providers = await startSimulatedProviders({ fallback: { answer: { fault: 'hang' } } });
  const solver = await openSolver(server, providers.url, 'cancel');
  providers.answer('conductor', planText(FOUR_CALLS.slice(0, 1)));
  const delays = [];
  for (let run = 1; run <= cancels; run += 1) {
    const { id } = await solver.conductor.start({ question: 'How soon?' });
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
  const aim = { good: 5000, excellent: 5000, show: seconds };
  return [rate(`cancel → connection closed, longest of ${delays.length}`, Math.max(...delays), aim)];
}

/** Measures the time from `kill -9` of a worker in mid-call, with another started at once, to the end of the run. */
export async function measureRecovery(server) {
  const providers = await startSimulatedProviders({ fallback: { delayMs: 500 } });
  const solver = await openSolver(server, providers.url, 'recovery');
  await solver.close();
  providers.answer('conductor', { text: planText(FOUR_CALLS), delayMs: 500 });
  const first = await spawnWorker(server, solver.config);
  const { id } = await solver.conductor.start({ question: 'How soon again?' });
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
  const aim = { good: 30_000, excellent: 12_000, show: seconds };
  return [rate('kill -9 of the worker in mid-call → run finished', took, aim)];
}

async function spawnWorker(server, config) {
  const program = fileURLToPath(new URL('./programs/worker.mjs', import.meta.url));
  const env = { ...process.env, TEMPORAL_ADDRESS: server.address, BENCH_CONFIG: JSON.stringify(config) };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await nextLine(child.stdout);
  return child;
}
