import { fileURLToPath } from 'node:url';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, Worker } from '@temporalio/worker';
import { ConductorPlugin } from 'temporal-conductor';
import * as activities from './activities.js';

const { connectionOptions, namespace } = loadClientConnectConfig();
const worker = await Worker.create({
  connection: await NativeConnection.connect(connectionOptions),
  namespace,
  taskQueue: 'conductor',
  workflowsPath: fileURLToPath(new URL('workflows.js', import.meta.url)),
  activities,
  plugins: [new ConductorPlugin({ config: 'conductor.yaml' })],
});
await worker.run();
