import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { type Simulation, startSimulatedProviders } from '../../src/testing';
import { continueLog, readPort } from './program';
import { simulationSchema } from './script';

// Runs the simulated providers as a separate program, so that a test may kill any other process and still count calls:
//   node --require ./scripts/run-typescript.cjs examples/providers/serve.ts [--port N] [--script FILE.json]
//     [--log FILE.jsonl]
// Prints its URL when ready; ends on SIGTERM or SIGINT. An existing log is continued.

async function serve(): Promise<void> {
  const { port, script, log } = parseArgs({
    options: { port: { type: 'string', default: '0' }, script: { type: 'string' }, log: { type: 'string' } },
  }).values;
  const providers = await startSimulatedProviders({
    ...(script !== undefined && readScript(script)),
    port: readPort(port),
    ...(log !== undefined && continueLog(log)),
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void providers.close());
  }
  console.log(providers.url);
}

function readScript(file: string): Simulation {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`--script takes a JSON file; ${file} cannot be read as one: ${String(error)}`, {
      cause: error,
    });
  }
  const script = simulationSchema.safeParse(json);
  if (script.success) return script.data;
  throw new Error(`--script ${file} is not a simulation:\n${z.prettifyError(script.error)}`);
}

serve().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
});
