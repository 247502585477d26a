import { configuredServer } from '../../src/local/configured-server';
import { connect } from '../support/temporal';
import { freshFolder } from './fresh-folder';

const look = async (env: NodeJS.ProcessEnv) => {
  const told: string[] = [];
  const folder = await freshFolder();
  const server = await configuredServer({ folder, namespace: 'ours', env, say: (line) => told.push(line) });
  return { server, told };
};

test('a server that answers at TEMPORAL_ADDRESS is used and left running', async () => {
  const users = await connect();
  try {
    const { server, told } = await look({ TEMPORAL_ADDRESS: users.address });
    expect(server).toMatchObject({
      address: users.address,
      namespace: 'ours',
      started: false,
      outlives: true,
      source: 'TEMPORAL_ADDRESS',
    });
    expect(told).toEqual([]);
    await server?.stop();
    await users.client.workflowService.getSystemInfo({});
  } finally {
    await users.close();
  }
});

test("the environment's namespace goes before the configured one", async () => {
  const users = await connect();
  await users.close();
  const { server } = await look({ TEMPORAL_ADDRESS: users.address, TEMPORAL_NAMESPACE: 'team' });
  expect(server?.namespace).toBe('team');
});

test('where nothing answers, that is said and there is no such server', async () => {
  const { server, told } = await look({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
  expect(server).toBeNull();
  expect(told.join()).toMatch(/^Nothing answers at 127\.0\.0\.1:1 \(TEMPORAL_ADDRESS\): .*deadline\.$/);
});

test('where none is named, nothing is asked and nothing is said', async () => {
  expect(await look({})).toEqual({ server: null, told: [] });
});
