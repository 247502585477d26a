/** Runs a worker and a client of one build. Reads counts from stdin; prints the time that as many solves take. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { many, time } from '../numbers.mjs';

const [root, width] = [process.argv[2], Number(process.argv[3])];
const require = createRequire(join(root, 'package.json'));
const { Client } = require('@temporalio/client');
const { DefaultLogger, NativeConnection, Runtime, Worker } = require('@temporalio/worker');
const { ConductorClient, ConductorPlugin } = require(join(root, 'lib/index.js'));

Runtime.install({ logger: new DefaultLogger('ERROR') });
const config = JSON.parse(process.env.BENCH_CONFIG);
const { taskQueue } = config.temporal;
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
const worker = await Worker.create({
  connection,
  taskQueue,
  workflowBundle: { codePath: join(root, 'lib/workflow-bundle.js') },
  plugins: [new ConductorPlugin({ config })],
});
void worker.run();
const client = new ConductorClient({ client: new Client({ connection }), store: config.store, taskQueue });

console.log('ready');
for await (const count of createInterface({ input: process.stdin })) {
  const before = process.cpuUsage();
  const wallMs = await time(() => many(Number(count), width, () => client.solve({ question: 'How long?' })));
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ wallMs, ownMs: (user + system) / 1000 }));
}
process.exit();
