const { loadClientConnectConfig } = require('@temporalio/envconfig');
const { NativeConnection, Worker } = require('@temporalio/worker');
const { ConductorPlugin } = require('temporal-conductor');
const activities = require('./activities.js');

async function main() {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const worker = await Worker.create({
    connection: await NativeConnection.connect(connectionOptions),
    namespace,
    taskQueue: 'conductor',
    workflowBundle: { codePath: 'workflow-bundle.js' },
    activities,
    plugins: [new ConductorPlugin({ config: 'conductor.yaml' })],
  });
  await worker.run();
}

void main();
