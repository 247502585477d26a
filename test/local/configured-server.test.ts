import { configuredServer } from '../../src/local/configured-server';
import { connect } from '../support/temporal';

const look = (env: NodeJS.ProcessEnv) => configuredServer({ namespace: 'ours', env });

test('a server that answers at TEMPORAL_ADDRESS is used and left running', async () => {
  const users = await connect();
  try {
    const server = await look({ TEMPORAL_ADDRESS: users.address });
    expect(server).toMatchObject({
      address: users.address,
      namespace: 'ours',
      started: false,
      outlives: true,
      source: 'TEMPORAL_ADDRESS',
    });
    await server?.stop();
    await users.client.workflowService.getSystemInfo({});
  } finally {
    await users.close();
  }
});

test("the environment's namespace goes before the configured one", async () => {
  const users = await connect();
  await users.close();
  const server = await look({ TEMPORAL_ADDRESS: users.address, TEMPORAL_NAMESPACE: 'team' });
  expect(server?.namespace).toBe('team');
});

test('where nothing answers, that is an error: no other server takes its place', async () => {
  await expect(look({ TEMPORAL_ADDRESS: '127.0.0.1:1' })).rejects.toThrow(
    /^nothing answers at 127\.0\.0\.1:1 \(TEMPORAL_ADDRESS\): .*deadline\. Start that server or correct the address/,
  );
});

test('where none is named, nothing is asked', async () => {
  expect(await look({})).toBeNull();
});
