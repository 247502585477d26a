import { parseArgs } from 'node:util';
import { readWhole } from '../support/options';
import { continueLog, readPort } from '../../examples/providers/program';
import { startWorld } from './simulate';
import { MIDDLE_WORLD, SMALL_WORLD, WHOLE_WORLD, type World } from './world';

// Runs a world as a separate program, so that it may be killed, or outlive all others:
//   node --require ./scripts/run-typescript.cjs research/world/serve.ts [--world small|middle|whole] [--seed N]
//     [--port N] [--delay MILLISECONDS] [--log FILE.jsonl]
// Prints its URL when ready; ends on SIGTERM or SIGINT. An existing log is continued.

const WORLDS: Readonly<Record<string, World>> = {
  small: SMALL_WORLD,
  middle: MIDDLE_WORLD,
  whole: WHOLE_WORLD,
};

async function serve(): Promise<void> {
  const { world, seed, port, delay, log } = parseArgs({
    options: {
      world: { type: 'string', default: 'whole' },
      seed: { type: 'string', default: '0' },
      port: { type: 'string', default: '0' },
      delay: { type: 'string', default: '0' },
      log: { type: 'string' },
    },
  }).values;
  const providers = await startWorld({
    world: readWorld(world),
    seed: readWhole('--seed', seed),
    port: readPort(port),
    delayMs: readWhole('--delay', delay),
    ...(log !== undefined && continueLog(log)),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void providers.close());
  }
  console.log(providers.url);
}

function readWorld(name: string): World {
  const world = WORLDS[name];
  if (world) return world;
  throw new Error(`--world takes one of ${Object.keys(WORLDS).join(', ')}, not "${name}".`);
}

serve().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
});
