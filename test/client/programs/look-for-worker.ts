/** Prints whether a worker polls a task queue, as this process sees it. */
import { Client, Connection } from '@temporalio/client';
import { isPolled } from '../../../src/client';

async function main(): Promise<void> {
  const [address, taskQueue = ''] = process.argv.slice(2);
  const connection = await Connection.connect({ address });
  console.log(JSON.stringify(await isPolled(new Client({ connection }), taskQueue)));
  await connection.close();
}

void main();
