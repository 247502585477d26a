// Measures what long texts cost in the database. `npm run build && node bench/programs/long-texts.mjs`
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { SqliteStore } from '../../lib/store/sqlite-store.js';

const MIB = 1024 * 1024;
const ROUNDS = 9;

const folder = await mkdtemp(join(tmpdir(), 'long-texts-'));
const stores = {
  'in the database': new SqliteStore(join(folder, 'store.db')),
};
for (const mib of [1, 8, 32]) {
  const figures = Object.fromEntries(Object.keys(stores).map((name) => [name, { write: [], read: [] }]));
  // Interleaved, since machines are noisy.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, store] of Object.entries(stores)) {
      const text = randomBytes(mib * MIB);
      const key = `texts/${mib}/${round}`;
      figures[name].write.push(await measure(() => store.write(key, text)));
      figures[name].read.push(await measure(() => store.read(key)));
    }
  }
  for (const [name, { write, read }] of Object.entries(figures)) {
    console.log(`${mib} MiB ${name}: write ${tell(write)}, read ${tell(read)}`);
  }
}
await rm(folder, { recursive: true });

/** Returns the duration of `work` and the longest stall of the event loop (`stood`), in milliseconds. */
async function measure(work) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begin = performance.now();
  await work();
  const took = performance.now() - begin;
  await new Promise((done) => setTimeout(done, 5));
  delay.disable();
  return { took, stood: delay.max / 1e6 };
}

function tell(measured) {
  const median = measured.map(({ took }) => took).sort((a, b) => a - b)[ROUNDS >> 1];
  const stood = Math.max(...measured.map((each) => each.stood));
  return `${median.toFixed(1)} ms (event loop blocked for at most ${stood.toFixed(0)} ms)`;
}
