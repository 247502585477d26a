import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { milliseconds, quantile } from './numbers.mjs';
import { CHAIN, openSolver, planText } from './setting.mjs';

/** How long a crash could still cost a second purchase after an answer's last byte was sent. */
export async function measureWindow(server) {
  const providers = await startSimulatedProviders();
  const solver = await openSolver(server, providers.url, 'window');
  providers.answer('conductor', planText(CHAIN));
  for (let run = 0; run < 10; run += 1) await solver.conductor.solve({ question: `How long? ${run}` });
  await solver.close();
  await providers.close();

  const folder = join(solver.store, 'answers');
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.json'));
  const kept = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).mtimeMs));
  // The calls of a chain come one after the other, so the n-th answer that was sent is the n-th that was kept.
  const sent = providers.log.map(({ respondedAt }) => respondedAt).sort((a, b) => a - b);
  const windows = kept.sort((a, b) => a - b).map((at, index) => at - sent[index]);
  const [middle, most] = [quantile(windows), Math.max(...windows)];
  return [
    ['last byte of an answer → kept in the store, median', milliseconds(middle), '< 50 ms', middle < 50],
    [`the same, longest of ${windows.length}`, milliseconds(most), '< 50 ms', most < 50],
  ];
}
