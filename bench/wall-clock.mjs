import { interleave, many, milliseconds, quantile, rate, ratio } from './numbers.mjs';
import { plainProgram } from './plain.mjs';
import { FOUR_CALLS, openSolver, spawnProviders } from './setting.mjs';

/** A solve of four calls against a plain program that makes the same calls, in one run. */
export async function measureWallClock(server) {
  const slow = await versus(server, { delayMs: 500, rounds: 6 });
  const fast = await versus(server, { delayMs: 0, rounds: 20 });
  return [
    rate('1 solve, 500 ms calls: wall ÷ plain', slow.alone.ratio, {
      good: 1.1,
      excellent: 1.06,
      show: ratio,
    }),
    rate('10 solves at once, 500 ms calls: wall ÷ plain', slow.ten, {
      good: 1.2,
      excellent: 1.13,
      show: ratio,
    }),
    rate('1 solve, 0 ms calls: added to plain', fast.alone.added, {
      good: 200,
      excellent: 120,
      show: milliseconds,
    }),
  ];
}

/** Solves per second and the processor time of this process (worker and client) for each. */
export async function measureThroughput(server) {
  const providers = await spawnProviders({ delayMs: 0, answerBytes: 1000, plan: FOUR_CALLS });
  const solver = await openSolver(server, providers.url, 'throughput');
  const solve = () => solver.conductor.solve({ question: 'How fast?' });
  const rows = [];
  for (const width of [20, 50]) {
    const count = width * 4;
    await many(width, width, solve); // What is loaded and compiled once is no cost of a solve.
    const [cpu, begin] = [process.cpuUsage(), performance.now()];
    await many(count, width, solve);
    const { user, system } = process.cpuUsage(cpu);
    const perSecond = count / ((performance.now() - begin) / 1000);
    const cpuMs = (user + system) / 1000 / count;
    rows.push(
      rate(`${width} at once, 0 ms calls: solves per second`, perSecond, {
        good: 15,
        excellent: 20,
        show: one,
        atLeast: true,
      }),
      rate(`${width} at once: processor time per solve`, cpuMs, {
        good: 45,
        excellent: 35,
        show: milliseconds,
      }),
    );
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

const one = (value) => value.toFixed(1);
