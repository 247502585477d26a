/** A command in miniature: once told to begin, it uses the server of the folder it is given until told to leave. */
import { createInterface } from 'node:readline';
import { embeddedServer } from '../../../src/local/embedded-server';

async function main(): Promise<void> {
  const [folder = '.', role] = process.argv.slice(2);
  const told = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  console.log('"ready"');
  await told.next();
  const server = await embeddedServer({ folder, stays: role === 'up', say: console.error });
  console.log(JSON.stringify({ address: server.address, source: server.source }));
  await told.next();
  await server.stop();
  process.exit(0);
}

void main();
