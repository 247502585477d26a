import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a port of this machine on which nothing listens: below those that systems give out, so that it stays free. */
export async function closedPort(): Promise<number> {
  const port = randomInt(20_000, 30_000);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return closedPort();
  }
  server.close();
  await once(server, 'close');
  return port;
}
