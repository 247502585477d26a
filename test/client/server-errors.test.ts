import { Client } from '@temporalio/client';
import { isNotFound } from '../../src/client';
import { invalidityIn } from '../../src/client/server-errors';
import { connect, type TestTemporal } from '../support/temporal';

let temporal: TestTemporal;
beforeAll(async () => {
  temporal = await connect();
});
afterAll(() => temporal.close());

const errorOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => null,
    (error: unknown) => error,
  );

test.each(['connection', 'nativeConnection'] as const)(
  'errors of the server are known over a %s',
  async (kind) => {
    const connection = kind === 'connection' ? temporal.client.connection : temporal.nativeConnection;
    const client = new Client({ connection });
    const { workflowService: service } = client;
    const execution = { workflowId: 'nobody-started-it' };
    const missing = service.describeWorkflowExecution({ namespace: 'default', execution });
    expect(isNotFound(await errorOf(missing))).toBe(true);
    expect(isNotFound(await errorOf(client.workflow.getHandle('nobody-started-it').describe()))).toBe(true);
    const invalid = service.describeWorkflowExecution({
      namespace: 'default',
      execution: { workflowId: '' },
    });
    expect(invalidityIn(await errorOf(invalid))).toMatch(/WorkflowId/);
  },
);
