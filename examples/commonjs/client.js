const { Client, Connection } = require('@temporalio/client');
const { loadClientConnectConfig } = require('@temporalio/envconfig');
const { ConductorClient } = require('temporal-conductor');

async function main() {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const connection = await Connection.connect(connectionOptions);
  const conductor = new ConductorClient({
    client: new Client({ connection, namespace: namespace ?? 'default' }),
    store: 'file:.conductor/store',
  });
  const result = await conductor.solve({ question: process.argv[2] ?? 'When do you open on Saturday?' });
  console.log(result.answer ?? result.error?.message);
  await connection.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
