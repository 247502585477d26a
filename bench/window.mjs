import { createRequire } from 'node:module';
import { startSimulatedProviders } from '../lib/testing/index.js';
import { median, milliseconds } from './numbers.mjs';
import { CHAIN, planText } from './plans.mjs';
import { rate } from './rows.mjs';
import { openSolver } from './setting.mjs';

const { openStore } = createRequire(import.meta.url)('../lib/store/open-store.js');

/** How long a crash could still cost a second purchase after an answer's last byte was sent. */
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
  // The calls of a chain come one after the other, so the n-th answer that was sent is the n-th that was kept.
  const sent = providers.log.map(({ respondedAt }) => respondedAt).sort((a, b) => a - b);
  // A row's time is in whole milliseconds, so it can lie a little before what it follows.
  const windows = kept.sort((a, b) => a - b).map((at, index) => Math.max(0, at - sent[index]));
  const aim = { good: 50, excellent: 50, show: milliseconds };
  return [
    rate('last byte of an answer → kept in the store, median', median(windows), aim),
    rate(`the same, longest of ${windows.length}`, Math.max(...windows), aim),
  ];
}
