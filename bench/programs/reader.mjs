/** Reads run ids from stdin, streams each run, and prints the epoch milliseconds of its first text. */
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { Client, Connection } from '@temporalio/client';

const require = createRequire(import.meta.url);
const { ConductorClient } = require('../../lib/index.js');

const { store, temporal } = JSON.parse(process.env.BENCH_CONFIG);
const client = new Client({
  connection: await Connection.connect({ address: process.env.TEMPORAL_ADDRESS }),
});
const conductor = new ConductorClient({ client, store, taskQueue: temporal.taskQueue });

for await (const id of createInterface({ input: process.stdin })) {
  for await (const { kind } of conductor.stream(id)) {
    if (kind !== 'text') continue;
    console.log(Date.now());
    break;
  }
}
