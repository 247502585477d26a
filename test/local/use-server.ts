/** A command in miniature: uses the server of the folder it is given until it reads `leave`. */
import { once } from 'node:events';
import { attachOrStart } from '../../src/local/attach-or-start';

async function main(): Promise<void> {
  const [folder = '.', role] = process.argv.slice(2);
  const server = await attachOrStart({ folder, stays: role === 'up', say: console.error });
  console.log(
    JSON.stringify({ address: server.address, started: server.started, outlives: server.outlives }),
  );
  await once(process.stdin, 'data');
  await server.stop();
  process.exit(0);
}

void main();
