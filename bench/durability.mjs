/**
 * `npm run bench`: measures what durability costs on this machine; `-- --quick` only checks that the benchmark works.
 *
 * Machines are noisy, so wall-clock figures are compared with those of other programs measured in turn with a solve;
 * sizes and counts are exact. It asserts nothing: a missed target is printed as missed.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { QUICK, WHOLE } from './extent.mjs';
import { measureCancel, measureRecovery } from './interruption.mjs';
import { measureFastCalls, measureSlowCalls } from './overhead.mjs';
import { installPeers } from './peers.mjs';
import { measureRecursion } from './recursion.mjs';
import { printTable } from './rows.mjs';
import { openServer } from './setting.mjs';
import { measureSignal } from './signal.mjs';
import { measureSize } from './size.mjs';
import { measureStart } from './start.mjs';
import { measureThroughput } from './throughput.mjs';
import { measureWindow } from './window.mjs';

const ALONE = [
  measureSize,
  measureRecursion,
  measureSignal,
  measureWindow,
  measureCancel,
  measureRecovery,
  measureStart,
];
const COMPARED = [measureSlowCalls, measureFastCalls, measureThroughput];
const PROGRAMS = ['plain', 'LangGraph.js', 'bare Temporal', 'solve', 'solve to bare'];

const { values } = parseArgs({ options: { quick: { type: 'boolean' } } });
const extent = values.quick ? QUICK : WHOLE;

await installPeers();
console.log(`Node ${process.versions.node}, ${availableParallelism()} cores\n`);
const server = await openServer();
const measured = (parts) => parts.map((measure) => () => measure(server, extent));
try {
  await printTable(['measured', 'value', 'good', 'excellent', ''], measured(ALONE));
  await printTable(['four calls', ...PROGRAMS, 'aim', ''], measured(COMPARED));
} finally {
  await server.close();
}
