import { Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { configuredServer } from '../../src/local/configured-server';
import { nativelyViaProxy, viaProxy } from '../../src/local/temporal-route';
import { closedPort } from '../support/closed-port';
import { setProxies, useProxy } from '../network/forward-proxy';

const proxy = useProxy();
const ADDRESS = 'temporal.example:7233';

beforeEach(() => {
  proxy.leadsTo.set(ADDRESS, process.env.TEST_TEMPORAL_ADDRESS ?? '');
});
afterEach(() => {
  setProxies({});
});

const withPassword = () => proxy.url.replace('//', '//user:secret-word@');
const credentials = `Basic ${Buffer.from('user:secret-word').toString('base64')}`;

test.each(['http_proxy', 'HTTP_PROXY', 'ALL_PROXY'])(
  'a client reaches a remote server through %s',
  async (name) => {
    setProxies({ [name]: withPassword() });
    const connection = await Connection.connect(viaProxy({ address: ADDRESS }));
    await connection.workflowService.getSystemInfo({});
    await connection.close();
    expect(proxy.passed).toEqual([`CONNECT ${ADDRESS}`]);
    expect(proxy.credentials).toEqual([credentials]);
  },
);

test('a worker reaches a remote server through the same proxy', async () => {
  setProxies({ HTTP_PROXY: withPassword() });
  const connection = await NativeConnection.connect(nativelyViaProxy({ address: ADDRESS }));
  await connection.close();
  expect(new Set(proxy.passed)).toEqual(new Set([`CONNECT ${ADDRESS}`]));
  expect(proxy.credentials[0]).toBe(credentials);
});

test('the server of this machine is asked directly by both, whatever the variables say', async () => {
  const gone = `http://127.0.0.1:${await closedPort()}`;
  setProxies({ http_proxy: gone, https_proxy: gone, all_proxy: gone });
  const address = process.env.TEST_TEMPORAL_ADDRESS ?? '';
  const connection = await Connection.connect(viaProxy({ address }));
  await connection.workflowService.getSystemInfo({});
  await connection.close();
  await (await NativeConnection.connect(nativelyViaProxy({ address }))).close();
});

test.each<[number, RegExp]>([
  [407, /It wants a password: set HTTP_PROXY to http:\/\/user:password@host:port$/],
  [403, /Ask its operator to allow this address, or correct HTTP_PROXY, or list the host in NO_PROXY$/],
  [502, /Check that the proxy runs and reaches this address, or correct HTTP_PROXY/],
])('a proxy that answers %i is named, and asked once', async (status, remedy) => {
  proxy.refuses = status;
  const looking = configuredServer('ours', { TEMPORAL_ADDRESS: ADDRESS, HTTP_PROXY: withPassword() });
  const start = `nothing answers at ${ADDRESS} (TEMPORAL_ADDRESS) through the proxy ${proxy.url} (HTTP_PROXY): it answered ${status}. `;
  const error: unknown = await looking.catch((thrown: unknown) => thrown);
  expect(String(error)).toContain(start);
  expect(String(error)).toMatch(remedy);
  expect(String(error)).not.toContain('secret-word');
  expect(proxy.passed).toEqual([`CONNECT ${ADDRESS}`]);
});

test('a proxy that is gone is named', async () => {
  const gone = `127.0.0.1:${await closedPort()}`;
  await expect(configuredServer('ours', { TEMPORAL_ADDRESS: ADDRESS, ALL_PROXY: gone })).rejects.toThrow(
    `through the proxy http://${gone} (ALL_PROXY): connect ECONNREFUSED ${gone}. Check that the proxy runs`,
  );
});

test('the proxy of a server that answers is named, and one that encrypts is looked for in HTTPS_PROXY', async () => {
  const env = { TEMPORAL_ADDRESS: ADDRESS, HTTP_PROXY: withPassword() };
  expect((await configuredServer('ours', env))?.source).toBe(
    `TEMPORAL_ADDRESS through the proxy ${proxy.url} (HTTP_PROXY)`,
  );
  proxy.refuses = 502;
  const encrypted = { TEMPORAL_ADDRESS: ADDRESS, TEMPORAL_API_KEY: 'k', HTTPS_PROXY: proxy.url };
  await expect(configuredServer('ours', encrypted)).rejects.toThrow(
    `through the proxy ${proxy.url} (HTTPS_PROXY): `,
  );
});

test('a proxy that Temporal cannot use is refused', async () => {
  const env = { TEMPORAL_ADDRESS: ADDRESS, HTTP_PROXY: 'https://proxy.example' };
  await expect(configuredServer('ours', env)).rejects.toThrow(
    'Temporal is reached through a proxy of http:// alone, not the proxy https://proxy.example (HTTP_PROXY)',
  );
});
