import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { sendRequest } from '../../src/activities/model-call';
import type { Complete } from '../../src/activities/models/model';
import { FAILURES } from '../../src/protocol/failures';
import { aCall, aCard } from './models/ask';

/** A provider that answers nothing until it is left. */
const silent: Complete = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });

test.each([
  ['the run was cancelled', { cancelRequested: true }, FAILURES.cancelled],
  ['the process is to stop', { workerShutdown: true }, FAILURES.workerStopped],
  ['the server took the process for lost', { notFound: true }, FAILURES.workerStopped],
  ['the attempt timed out', { timedOut: true }, FAILURES.workerStopped],
])('broken off because %s, and said so', async (_, details, type) => {
  const activity = new MockActivityEnvironment();
  const sent = activity.run(() => sendRequest(silent, aCall(aCard({})), { apiKey: null, callId: 'call' }));
  activity.cancel('CANCELLED', new ActivityCancellationDetails(details));
  expect(await sent).toMatchObject({ kind: 'failed', failure: { type, billed: 'unknown' } });
});
