/**
 * `npm run bench -- watched [ROUNDS]`: compares solves of a process that measures and traces nothing with those of one
 * that has an exporter of metrics, and OpenTelemetry's SDK with an exporter that drops its spans. Prints ratios; asserts
 * nothing.
 */
import { fileURLToPath } from 'node:url';
import { median, milliseconds } from './numbers.mjs';
import { FOUR_CALLS } from './plans.mjs';
import { openServer, spawnProviders } from './setting.mjs';
import { startSolver, timeInTurns } from './solver.mjs';

const SOLVES = 40;
const WIDTH = 10;

const rounds = Number(process.argv[2] ?? 10);
const root = fileURLToPath(new URL('..', import.meta.url));
const server = await openServer();
const providers = await spawnProviders({ delayMs: 0, answerBytes: 100, plan: FOUR_CALLS });
try {
  const solver = (name, env) => startSolver({ server, providers }, { name, root, width: WIDTH, env });
  const solvers = {
    plain: solver('plain', {}),
    metrics: solver('metrics', { BENCH_METRICS: 'yes' }),
    watched: solver('watched', { BENCH_METRICS: 'yes', BENCH_SPANS: 'yes' }),
  };
  const { plain, ...others } = await timeInTurns(solvers, { rounds, solves: SOLVES });
  console.log(`processor time of a solve, server excluded: ${milliseconds(median(plain))} with nothing`);
  for (const [name, times] of Object.entries(others)) {
    // Noise in a round affects all alike.
    const ratio = median(times.map((own, round) => own / plain[round]));
    const what = name === 'metrics' ? 'with metrics' : 'with metrics and spans';
    console.log(`${what}: × ${ratio.toFixed(2)} (${milliseconds(median(times))})`);
  }
} finally {
  await providers.close();
  await server.close();
}
