const { loadClientConnectConfig } = require('@temporalio/envconfig');
const { DefaultLogger, NativeConnection, Runtime, Worker } = require('@temporalio/worker');
const { ConductorPlugin } = require('temporal-conductor');
const activities = require('./activities.js');

async function main() {
  // Makes Temporal log only warnings and errors.
  Runtime.install({ logger: new DefaultLogger('WARN') });
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const worker = await Worker.create({
    connection: await NativeConnection.connect(connectionOptions),
    namespace,
    taskQueue: 'conductor',
    workflowBundle: { codePath: 'workflow-bundle.js' },
    activities,
    // Reads conductor.yaml, or the file that CONDUCTOR_CONFIG names.
    plugins: [new ConductorPlugin()],
  });
  await worker.run();
}

void main();
