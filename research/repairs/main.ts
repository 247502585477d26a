import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readWhole, seedsFrom } from '../support/options';
import { FAULTS } from './faults';
import { openBench, type Repair, type Way, WAYS } from './measure';

// Measures whether a team helps a coding agent, with the real Codex and simulated models of known skills:
//   npm run measure:agents -- [--seeds N] [--first SEED] [--repairs N] [--delay MILLISECONDS]
// Prints a table with a row for each way to ask. Asserts nothing: what came out is on the page docs/results/agents.md.
// Seeds run side by side, each with its own server, gateway and models; the ways take turns, so that all of them see the
// same load of the machine.

interface Done extends Repair {
  readonly way: Way;
}

async function main(): Promise<void> {
  const options = {
    seeds: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    repairs: { type: 'string', default: `${FAULTS.length}` },
    delay: { type: 'string', default: '300' },
  } as const;
  const { repairs, delay, ...seeds } = parseArgs({ options }).values;
  const extent = {
    repairs: readWhole('--repairs', repairs),
    delayMs: readWhole('--delay', delay),
  };
  const done = (await Promise.all(seedsFrom(seeds).map((seed) => playSeed(seed, extent)))).flat();
  console.log('| asked | repaired | turns | tokens | USD | seconds |\n| --- | --- | --- | --- | --- | --- |');
  for (const way of WAYS) console.log(rowOf(way, done));
}

interface Extent {
  readonly repairs: number;
  /** Latency of every call of a model. */
  readonly delayMs: number;
}

async function playSeed(seed: number, { repairs, delayMs }: Extent): Promise<Done[]> {
  const folder = await mkdtemp(join(tmpdir(), 'measured-agents-'));
  const bench = await openBench(folder, { seed, delayMs });
  const done: Done[] = [];
  try {
    for (const fault of FAULTS.slice(0, repairs)) {
      for (const way of WAYS) {
        const repair = await bench.repair(way, fault);
        console.error(JSON.stringify({ seed, fault: fault.name, way: way.name, ...repair }));
        done.push({ ...repair, way });
      }
    }
    return done;
  } finally {
    await bench.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns a row with how many were repaired, and the means of the rest. */
function rowOf(way: Way, all: readonly Done[]): string {
  const done = all.filter((each) => each.way === way);
  const mean = (amountOf: (one: Repair) => number): number =>
    done.reduce((sum, one) => sum + amountOf(one), 0) / done.length;
  const repaired = `${done.filter(({ isRepaired }) => isRepaired).length} of ${done.length}`;
  const turns = mean((one) => one.turns).toFixed(1);
  const tokens = Math.round(mean((one) => one.tokens));
  const usd = mean((one) => one.usd).toFixed(4);
  return `| ${[way.name, repaired, turns, tokens, usd, mean((one) => one.seconds).toFixed(1)].join(' | ')} |`;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
