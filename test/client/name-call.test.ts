import type { Client } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { nameCall } from '../../src/client/pending-call';

/** Returns a client whose server has one history, with these activities. */
function clientWith(activities: readonly { id: string; type: string; input: unknown }[]): Client {
  const events = activities.map(({ id, type, input }) => ({
    activityTaskScheduledEventAttributes: {
      activityId: id,
      activityType: { name: type },
      input: { payloads: [defaultPayloadConverter.toPayload(input)] },
    },
  }));
  return {
    options: { namespace: 'default', loadedDataConverter: { ...defaultDataConverter, payloadCodecs: [] } },
    workflowService: {
      describeWorkflowExecution: () => Promise.resolve({}),
      getWorkflowExecutionHistory: () =>
        Promise.resolve({ history: { events }, nextPageToken: new Uint8Array() }),
    },
  } as unknown as Client;
}

test('a call that only the server knows of is named after what it was scheduled for', async () => {
  const worker = { kind: 'model', id: 'alpha', model: 'm' };
  const client = clientWith([
    { id: '1', type: 'conductor.writePlan', input: { round: 0, repairs: [], run: { conductor: {} } } },
    { id: '2', type: 'conductor.callWorker', input: { step: 1, round: 0, subtask: 'Go', sees: [], worker } },
    { id: '3', type: 'somethingElse', input: 'text' },
  ]);
  expect(await nameCall(client, 'run', '1')).toBe('the plan');
  expect(await nameCall(client, 'run', '2')).toBe('step 2 (alpha)');
  expect(await nameCall(client, 'run', '3')).toBeNull();
  expect(await nameCall(client, 'run', '4')).toBeNull();
});
