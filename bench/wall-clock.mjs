import { interleave, many, milliseconds, quantile } from './numbers.mjs';
import { plainProgram } from './plain.mjs';
import { FOUR_CALLS, openSolver, spawnProviders } from './setting.mjs';

/** A solve of four calls against a plain program that makes the same calls, in one run. */
export async function measureWallClock(server) {
  const slow = await versus(server, { delayMs: 500, rounds: 6 });
  const fast = await versus(server, { delayMs: 0, rounds: 20 });
  return [
    ['1 solve, 500 ms calls: wall ÷ plain', slow.alone.ratio.toFixed(3), '≤ 1.06', slow.alone.ratio <= 1.06],
    ['10 solves at once, 500 ms calls: wall ÷ plain', slow.ten.toFixed(3), '≤ 1.13', slow.ten <= 1.13],
    [
      '1 solve, 0 ms calls: added to plain',
      milliseconds(fast.alone.added),
      '≤ 120 ms',
      fast.alone.added <= 120,
    ],
  ];
}

/** Solves per second and the processor time of this process (worker and client) for each. */
export async function measureThroughput(server) {
  const providers = await spawnProviders({ delayMs: 0, answerBytes: 1000, plan: FOUR_CALLS });
  const solver = await openSolver(server, providers.url, 'throughput');
  const rows = [];
  for (const width of [20, 50]) {
    const count = width * 4;
    const [cpu, begin] = [process.cpuUsage(), performance.now()];
    await many(count, width, () => solver.conductor.solve({ question: 'How fast?' }));
    const { user, system } = process.cpuUsage(cpu);
    const rate = count / ((performance.now() - begin) / 1000);
    const cpuMs = (user + system) / 1000 / count;
    rows.push([`${width} at once, 0 ms calls: solves per second`, rate.toFixed(1), '≥ 20', rate >= 20]);
    rows.push([`${width} at once: processor time per solve`, milliseconds(cpuMs), '≤ 35 ms', cpuMs <= 35]);
  }
  await solver.close();
  await providers.close();
  return rows;
}

async function versus(server, { delayMs, rounds }) {
  const providers = await spawnProviders({ delayMs, answerBytes: 1000, plan: FOUR_CALLS });
  const solver = await openSolver(server, providers.url, `wall-${delayMs}`);
  const plain = plainProgram(providers.url);
  const solve = () => solver.conductor.solve({ question: 'How fast?' });
  const [plainTimes, solveTimes] = await interleave(rounds, [plain, solve]);
  const [plainTens, solveTens] = await interleave(3, [() => many(10, 10, plain), () => many(10, 10, solve)]);
  await solver.close();
  await providers.close();
  const [base, durable] = [quantile(plainTimes), quantile(solveTimes)];
  return {
    alone: { ratio: durable / base, added: durable - base },
    ten: quantile(solveTens) / quantile(plainTens),
  };
}
