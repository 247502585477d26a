/** Runs a worker in its own process, to be killed. Prints `ready`, then memory and status for each line on stdin. */
import { createRequire } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const require = createRequire(import.meta.url);
const { ConductorPlugin } = require('../../lib/index.js');

Runtime.install({ logger: new DefaultLogger('ERROR') });
const config = JSON.parse(process.env.BENCH_CONFIG);
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS }),
  taskQueue: config.temporal.taskQueue,
  workflowBundle: { codePath: require.resolve('../../lib/workflow-bundle.js') },
  stickyQueueScheduleToStartTimeout: '2s',
  maxConcurrentActivityTaskExecutions: Number(process.env.BENCH_SLOTS ?? 100),
  plugins: [new ConductorPlugin({ config })],
});
const running = worker.run();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
console.log('ready');
createInterface({ input: process.stdin }).on('line', () => {
  const { rss } = process.memoryUsage();
  const most = process.resourceUsage().maxRSS * 1024;
  const { user, system } = process.cpuUsage();
  const looked = { rss, most, stopMs: delay.max / 1e6, cpuMs: (user + system) / 1000 };
  console.log(JSON.stringify({ ...looked, ...worker.getStatus() }));
  delay.reset();
});
await running;
