import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestGateway } from './gateway';

interface ClientSetting {
  /** @default the gateway's `secret` */
  readonly key?: string;
  /** `legacy`: as clients of 2025 do; `auto`: by the latest version that both know. @default auto */
  readonly mode?: 'legacy' | 'auto';
}

/** Returns a function that connects the official client to a gateway's /mcp; each connection ends with its test. */
export function useMcpClients(): (gateway: TestGateway, setting?: ClientSetting) => Promise<Client> {
  const clients: Client[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  return async ({ url, secret }, { key = secret, mode = 'auto' } = {}) => {
    const client = new Client({ name: 'a-test', version: '1.0.0' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    clients.push(client);
    return client;
  };
}
