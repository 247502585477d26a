import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * One free TCP port of 127.0.0.1 for each wish: the wished one if nobody listens there, else any other.
 * All are held until the last is found, so that no two are the same.
 */
export async function freePorts(wishes: readonly (number | null)[]): Promise<number[]> {
  const held: Server[] = [];
  try {
    const ports: number[] = [];
    for (const wish of wishes) {
      const server = (wish === null ? null : await listen(wish)) ?? (await listen(0));
      const address = server?.address();
      if (!server || !address || typeof address === 'string') {
        throw new Error('No free TCP port was found on 127.0.0.1 for the embedded server.');
      }
      held.push(server);
      ports.push(address.port);
    }
    return ports;
  } finally {
    await Promise.all(held.map((server) => once(server.close(), 'close')));
  }
}

async function listen(port: number): Promise<Server | null> {
  const server = createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => null,
  );
}
