import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestGateway } from './gateway';

interface McpClients {
  /** Connects as a client of 2025 does, or by the version that client and server have in common. */
  readonly connect: (key?: string, mode?: 'legacy' | 'auto') => Promise<Client>;
}

/** Connects the official client to a gateway's /mcp; each connection ends with its test. */
export function useMcpClients(gateway: TestGateway): McpClients {
  const clients: Client[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  return {
    connect: async (key = gateway.secret, mode = 'auto') => {
      const client = new Client({ name: 'a-test', version: '1.0.0' }, { versionNegotiation: { mode } });
      const requestInit = { headers: { authorization: `Bearer ${key}` } };
      const address = new URL(`${gateway.url}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
      clients.push(client);
      return client;
    },
  };
}
