import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { ConductorClient } from 'temporal-conductor';

const { connectionOptions, namespace } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
const conductor = new ConductorClient({
  client: new Client({ connection, namespace: namespace ?? 'default' }),
  store: 'file:.conductor/store',
});

const result = await conductor.solve({ question: process.argv[2] ?? 'When do you open on Saturday?' });
for (const round of result.rounds) {
  for (const step of round.steps) console.error(`step ${step.index + 1}: ${step.worker}`);
}
console.log(result.answer ?? result.error?.message);
await connection.close();
