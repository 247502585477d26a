/** `npm run chaos -- --seed 1 --solves 200 --kills 50 --store sqlite|s3|postgres [--live | --tools | --callers]`: exits 1 on findings. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleWorkflows } from '../../research/support/bundle-workflows';
import { runCallerChaos } from './callers/run-caller-chaos';
import { reportOf } from './report';
import { runChaos, type ChaosOptions } from './run-chaos';
import { runToolChaos } from './tools/run-tool-chaos';
import { isStoreKind } from './world';

async function main(): Promise<void> {
  const { seed, solves, kills, store, live, tools, callers } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      solves: { type: 'string', default: '200' },
      kills: { type: 'string', default: '50' },
      store: { type: 'string', default: 'sqlite' },
      live: { type: 'boolean', default: false },
      tools: { type: 'boolean', default: false },
      callers: { type: 'boolean', default: false },
    },
  }).values;
  const play = callers ? runCallerChaos : tools ? runToolChaos : runChaos;
  if (play !== runChaos && (store !== 'sqlite' || live || (tools && callers)))
    throw new Error('--tools and --callers take neither each other nor --store and --live.');
  if (!isStoreKind(store)) throw new Error(`--store takes sqlite, s3 or postgres, not "${store}".`);
  const folder = await mkdtemp(join(tmpdir(), 'chaos-bundle-'));
  try {
    const options: ChaosOptions = {
      seed: readNumber('seed', seed, 0),
      solves: readNumber('solves', solves, 1),
      kills: readNumber('kills', kills, 0),
      store,
      live,
      bundle: await bundleWorkflows(folder),
    };
    const result = await play(options);
    console.log(reportOf(options, result));
    process.exitCode = result.findings.length === 0 ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function readNumber(name: string, text: string, least: number): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new Error(`--${name} takes a whole number from ${least}, not "${text}".`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error && error.cause === undefined ? error.message : error);
  // Ends pending calls that would retry for ever.
  process.exit(2);
});
