import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { DefaultLogger, NativeConnection, Runtime, type WorkerOptions } from '@temporalio/worker';

// Once per test file, before anything of Temporal's native part is used.
const logged: string[] = [];
Runtime.install({
  logger: new DefaultLogger('DEBUG', ({ level, message, meta }) => {
    const line = `${message} ${inspect(meta, { depth: null })}`;
    logged.push(line);
    if (level === 'ERROR') console.error(line);
  }),
});

/** Everything that was logged by the SDK in this test file, for those who search it. */
export function loggedLines(): readonly string[] {
  return logged;
}

/** A test file's way to the server that the whole jest run shares. */
export interface TestTemporal {
  readonly address: string;
  readonly client: Client;
  readonly nativeConnection: NativeConnection;
  close(): Promise<void>;
}

/** Connects to the test server, or to a test's own; `close` belongs into `afterAll`. */
export async function connect(address = fromSetup('TEST_TEMPORAL_ADDRESS')): Promise<TestTemporal> {
  const [connection, nativeConnection] = await Promise.all([
    // The history of a run may come in one piece.
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

/** A namespace for examples alone: their task queues have the same names as those of everybody who copied them. */
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

/** A task queue of a test's own, so that tests on one server never meet. */
export function testTaskQueue(): string {
  return `test-${randomUUID()}`;
}

function fromSetup(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run the test through jest's global set-up.`);
  return value;
}
