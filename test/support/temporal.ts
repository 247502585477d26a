import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { DefaultLogger, NativeConnection, Runtime, type WorkerOptions } from '@temporalio/worker';
import { fromSetup, testServerAddress } from './test-server';

export { testTaskQueue } from './test-server';

// Runs once per test file, before any use of Temporal's native part.
const logged: string[] = [];
Runtime.install({
  logger: new DefaultLogger('DEBUG', ({ level, message, meta }) => {
    const line = `${message} ${inspect(meta, { depth: null })}`;
    logged.push(line);
    if (level === 'ERROR') console.error(line);
  }),
});

/** Returns everything that the SDK logged in this test file. */
export function loggedLines(): readonly string[] {
  return logged;
}

/** A test file's connections to the server that the whole jest run shares. */
export interface TestTemporal {
  readonly address: string;
  readonly client: Client;
  readonly nativeConnection: NativeConnection;
  close(): Promise<void>;
}

/** Connects to the test server, or to a test's own; call `close` in `afterAll`. */
export async function connect(address = testServerAddress()): Promise<TestTemporal> {
  const [connection, nativeConnection] = await Promise.all([
    // A run's history may arrive in one large message.
    Connection.connect({ address, channelArgs: { 'grpc.max_receive_message_length': -1 } }),
    NativeConnection.connect({ address }),
  ]);
  return {
    address,
    client: new Client({ connection }),
    nativeConnection,
    close: async () => {
      await Promise.all([connection.close(), nativeConnection.close()]);
    },
  };
}

/** Opens a namespace for examples only: every copy of an example uses the same task queue names. */
export async function openNamespace({ client }: TestTemporal): Promise<string> {
  const namespace = `example-${randomUUID()}`;
  await client.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  return namespace;
}

/** The workflow bundle built once for the jest run, as `Worker.create` takes it. */
export function workflowBundle(): NonNullable<WorkerOptions['workflowBundle']> {
  return { codePath: fromSetup('TEST_WORKFLOW_BUNDLE') };
}
