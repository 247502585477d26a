const { Client, Connection } = require('@temporalio/client');
const { loadClientConnectConfig } = require('@temporalio/envconfig');
const { ConductorClient } = require('temporal-conductor');

const question = process.argv[2] ?? 'When do you open on Saturday?';

async function main() {
  const { connectionOptions, namespace } = loadClientConnectConfig();
  const connection = await Connection.connect(connectionOptions);
  const client = new Client({ connection, namespace });
  // Takes the store and the task queue from the same file as the worker.
  const conductor = new ConductorClient({ client });

  const { rounds, answer, error } = await conductor.solve({ question });
  for (const { worker, output } of rounds.flatMap((round) => round.steps))
    console.error(`${worker}: ${output}`);
  console.log(answer ?? `No answer: ${error.message}`);

  await connection.close();
}

void main();
