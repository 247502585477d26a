import { withContenders } from './contenders.mjs';
import { each, interleave, many, median, milliseconds, seconds } from './numbers.mjs';
import { compare, times } from './rows.mjs';

/** Targets by concurrency, as multiples of the plain program's wall clock (`solve`) and bare Temporal's (`toBare`). */
const AIMS = { 1: { solve: 1.08 }, 10: { solve: 1.25, toBare: 1.1 } };

/** Measures the wall clock with 500 ms calls, as a multiple of the plain program's. */
export async function measureSlowCalls(server, { slow }) {
  return withContenders(server, 500, async (programs) => {
    const rows = [];
    for (const { width, rounds } of slow) {
      const walls = await wallsOf(programs, { width, rounds });
      const multiples = each(walls, (wall) => wall / walls.plain);
      rows.push(
        compare(
          `500 ms calls, ${width} at once: wall clock`,
          { ...multiples, plain: walls.plain },
          { show: times, showPlain: seconds, toBare: (solve, bare) => solve / bare, aims: AIMS[width] },
        ),
      );
    }
    return rows;
  });
}

/** Measures the wall clock with 0 ms calls, which shows the overhead. */
export async function measureFastCalls(server, { fast: { rounds } }) {
  return withContenders(server, 0, async (programs) => {
    const walls = await wallsOf(programs, { width: 1, rounds });
    const added = each(walls, (wall) => wall - walls.plain);
    return [
      compare(
        '0 ms calls, 1 at once: wall clock',
        { ...added, plain: walls.plain },
        {
          show: (ms) => `+ ${milliseconds(ms)}`,
          showPlain: milliseconds,
          toBare: () => walls.solve / walls.bare,
          aims: { solve: 120 },
        },
      ),
    ];
  });
}

async function wallsOf(programs, { width, rounds }) {
  const batches = each(programs, (program) => () => many(width, width, program));
  return each(await interleave(rounds, batches), median);
}
