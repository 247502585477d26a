import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

const SSL_REQUEST = 80877103;

/** A server that speaks as much of PostgreSQL's protocol as it takes to ask for a password in the clear. */
export interface GreedyPostgres {
  /** A place to connect to, as `HOST:PORT`. */
  readonly at: string;
  connections: number;
  /** All that it was sent after it had asked, as text. */
  heard: string;
  close(): Promise<void>;
}

export async function startGreedyPostgres(): Promise<GreedyPostgres> {
  const server = createServer((socket) => {
    greedy.connections += 1;
    socket.on('error', () => undefined);
    let asked = false;
    socket.on('data', (bytes) => {
      if (asked) {
        greedy.heard += bytes.toString('latin1');
        socket.end();
      } else if (bytes.length >= 8 && bytes.readInt32BE(4) === SSL_REQUEST) socket.write('N');
      else {
        asked = true;
        // AuthenticationCleartextPassword.
        socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const greedy: GreedyPostgres = {
    at: `127.0.0.1:${port}`,
    connections: 0,
    heard: '',
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
  return greedy;
}
