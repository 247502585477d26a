import { withContenders } from './contenders.mjs';
import { decimal, each, many, milliseconds, time } from './numbers.mjs';
import { compare } from './rows.mjs';

/** Measures concurrent solves with 0 ms calls: solves per second, and processor time per solve. */
export async function measureThroughput(server, { throughput }) {
  return withContenders(server, 0, async (programs) => {
    const rows = [];
    for (const { width, rounds } of throughput) {
      const spent = await spend(server, programs, { width, rounds });
      const count = 2 * width * rounds;
      const rowOf = (what, figure, show, aims) =>
        compare(`0 ms calls, ${width} at once: ${what}`, each(spent, figure), {
          show,
          toBare: (solve, bare) => solve / bare,
          aims,
        });
      rows.push(
        rowOf('solves per second', ({ wallMs }) => (count * 1000) / wallMs, decimal, {
          toBare: 0.88,
          atLeast: true,
        }),
        rowOf(
          'solves per second of one core, server included',
          ({ ownMs, serverMs }) => (count * 1000) / (ownMs + serverMs),
          decimal,
        ),
        rowOf('processor time per solve, server excluded', ({ ownMs }) => ownMs / count, milliseconds, {
          toBare: 1.35,
        }),
      );
    }
    return rows;
  });
}

/** Sums each program's wall-clock time, its processor time in this process, and that of Temporal's server. */
async function spend(server, programs, { width, rounds }) {
  const spent = each(programs, () => ({ wallMs: 0, ownMs: 0, serverMs: 0 }));
  for (const program of Object.values(programs)) await many(width, width, program); // Warm-up: opens connections.
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, program] of Object.entries(programs)) {
      const [own, served] = [process.cpuUsage(), await server.processorTime()];
      spent[name].wallMs += await time(() => many(2 * width, width, program));
      const { user, system } = process.cpuUsage(own);
      spent[name].ownMs += (user + system) / 1000;
      // Only these two use the server; its work while other programs run does not count.
      if (name === 'solve' || name === 'bare')
        spent[name].serverMs += (await server.processorTime()) - served;
    }
  }
  return spent;
}
