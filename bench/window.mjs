import { createRequire } from 'node:module';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { median, milliseconds } from './numbers.mjs';
import { CHAIN, planText } from './plans.mjs';
import { rate } from './rows.mjs';
import { openSolver } from './setting.mjs';

const { openStore } = createRequire(import.meta.url)('../lib/store/open-store.js');

/** Measures how long after an answer's last byte a crash would still cause a second paid call. */
export async function measureWindow(server, { windows: runs }) {
  const providers = await startSimulatedProviders();
  const solver = await openSolver(server, providers.url, 'window');
  providers.answer('conductor', planText(CHAIN));
  for (let run = 0; run < runs; run += 1) await solver.conductor.solve({ question: `How long? ${run}` });
  await solver.close();
  await providers.close();

  const kept = [];
  for await (const { modifiedAt } of openStore(solver.config.store, server.folder).entries('answers/'))
    kept.push(+modifiedAt);
  // Calls of a chain run one after the other, so the n-th answer sent is the n-th stored.
  const sent = providers.log.map(({ respondedAt }) => respondedAt).sort((a, b) => a - b);
  // Row times are whole milliseconds, so a row can seem to precede its answer.
  const windows = kept.sort((a, b) => a - b).map((at, index) => Math.max(0, at - sent[index]));
  const aim = { good: 50, excellent: 50, show: milliseconds };
  return [
    rate('last byte of an answer → kept in the store, median', median(windows), aim),
    rate(`the same, longest of ${windows.length}`, Math.max(...windows), aim),
  ];
}
