/**
 * Runs a worker and a client of one build. Reads counts from stdin; prints the time that as many solves take. With
 * `BENCH_METRICS` and `BENCH_SPANS` it is measured and traced meanwhile.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { many, time } from '../numbers.mjs';

const [root, width] = [process.argv[2], Number(process.argv[3])];
const require = createRequire(join(root, 'package.json'));
const { Client } = require('@temporalio/client');
const { DefaultLogger, NativeConnection, Runtime, Worker } = require('@temporalio/worker');
const { ConductorClient, ConductorPlugin } = require(join(root, 'lib/index.js'));

const { BENCH_METRICS, BENCH_SPANS } = process.env;
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: BENCH_METRICS ? withMetrics() : {} });
if (BENCH_SPANS) dropSpans();
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

/** Exports metrics as `worker --metrics` does, on any free port. */
function withMetrics() {
  const { METRIC_BUCKETS } = require(join(root, 'lib/index.js'));
  const prometheus = { bindAddress: '127.0.0.1:0', countersTotalSuffix: true, useSecondsForDurations: true };
  return { metrics: { prometheus: { ...prometheus, histogramBucketOverrides: METRIC_BUCKETS } } };
}

/** Installs OpenTelemetry's SDK with all of its work but the sending. */
function dropSpans() {
  const { BatchSpanProcessor, NodeTracerProvider } = require('@opentelemetry/sdk-trace-node');
  const exporter = {
    export: (_, done) => done({ code: 0 }),
    shutdown: () => Promise.resolve(),
  };
  new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();
}
