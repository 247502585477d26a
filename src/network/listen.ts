import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Listening {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Listens on a port (0: any free one) of one host, or of all addresses. Closing drops open connections. */
export async function listen(server: Server, port: number, host?: string): Promise<Listening> {
  await once(server.listen(port, host), 'listening');
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host?.includes(':') ? `[${host}]` : (host ?? '127.0.0.1')}:${bound}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
