import { fileURLToPath } from 'node:url';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { ConductorPlugin } from 'temporal-conductor';
import * as activities from './activities.js';

// Makes Temporal log only warnings and errors.
Runtime.install({ logger: new DefaultLogger('WARN') });
const { connectionOptions, namespace } = loadClientConnectConfig();
const worker = await Worker.create({
  connection: await NativeConnection.connect(connectionOptions),
  namespace,
  taskQueue: 'conductor',
  workflowsPath: fileURLToPath(new URL('workflows.js', import.meta.url)),
  activities,
  // Reads conductor.yaml, or the file that CONDUCTOR_CONFIG names.
  plugins: [new ConductorPlugin()],
});
await worker.run();
