/** Runs a gateway in its own process. Prints its URL and a key, then its memory and CPU time per line of stdin. */
import { createRequire } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';

const require = createRequire(import.meta.url);
const { ConductorClient } = require('../../lib/index.js');
const { readGivenConfig } = require('../../lib/config/load.js');
const { createKey } = require('../../lib/gateway/access/keys.js');
const { startGateway } = require('../../lib/gateway/server.js');
const { configuredStore } = require('../../lib/store/open-store.js');

const config = readGivenConfig(JSON.parse(process.env.BENCH_CONFIG));
const store = configuredStore(config);
const temporal = new Client({
  connection: await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS }),
});
const conductor = new ConductorClient({ client: temporal, store, taskQueue: config.temporal.taskQueue });
const { url } = await startGateway(
  { conductor, temporal, config, store, say: console.error },
  { port: 0, host: '127.0.0.1', allowHosts: [] },
);
const free = { models: null, usdPerDay: null, requestsPerMinute: null, expiresAt: null };
const { secret } = await createKey(store, { name: `bench-${Date.now()}`, isAdmin: true, ...free });

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
console.log(JSON.stringify({ url, secret }));
const lines = createInterface({ input: process.stdin });
lines.on('line', () => {
  const { rss } = process.memoryUsage();
  const most = process.resourceUsage().maxRSS * 1024;
  const { user, system } = process.cpuUsage();
  console.log(JSON.stringify({ rss, most, stopMs: delay.max / 1e6, cpuMs: (user + system) / 1000 }));
  delay.reset();
});
lines.on('close', () => process.exit());
