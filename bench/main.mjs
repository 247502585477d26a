/**
 * `npm run bench`: what durability costs, in one run on this machine.
 *
 * Wall-clock figures are ratios to a plain program measured in turn with a solve, since machines are noisy; sizes and
 * counts are exact. It asserts nothing: a missed target is printed as missed.
 */
import { openServer } from './setting.mjs';
import { measureCancel, measureRecovery } from './interruption.mjs';
import { measureSize } from './size.mjs';
import { measureStart } from './start.mjs';
import { measureThroughput, measureWallClock } from './wall-clock.mjs';
import { measureWindow } from './window.mjs';

const PARTS = [
  measureSize,
  measureWallClock,
  measureThroughput,
  measureWindow,
  measureCancel,
  measureRecovery,
  measureStart,
];

const server = await openServer();
console.log('| measured | value | good | excellent | |\n| --- | --- | --- | --- | --- |');
try {
  for (const measure of PARTS) {
    for (const cells of await measure(server)) console.log(`| ${cells.join(' | ')} |`);
  }
} finally {
  await server.close();
}
