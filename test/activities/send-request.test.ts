import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { callIdOf, sendRequest } from '../../src/activities/send-request';
import type { Complete } from '../../src/activities/models';
import { FAILURES } from '../../src/protocol/failures';
import { aCall, aCard } from './models/ask';

/** A provider that never answers, and rejects when the request is aborted. */
const silent: Complete = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });

test.each([
  ['the run was cancelled', { cancelRequested: true }, FAILURES.cancelled, 'the run was cancelled'],
  ['the process is to stop', { workerShutdown: true }, FAILURES.workerStopped, 'process was stopped'],
  ['the server took the process for lost', { notFound: true }, FAILURES.workerStopped, 'no heartbeat'],
  ['the attempt timed out', { timedOut: true }, FAILURES.workerStopped, 'no heartbeat'],
  ['the call was paused', { paused: true }, FAILURES.workerStopped, 'paused in Temporal'],
  ['the call was reset', { reset: true }, FAILURES.workerStopped, 'reset in Temporal'],
])('a request aborted because %s says so, in type and words', async (_, details, type, words) => {
  const activity = new MockActivityEnvironment();
  const sent = activity.run(() => sendRequest(silent, aCall(aCard({})), { apiKey: null, callId: 'call' }));
  activity.cancel('CANCELLED', new ActivityCancellationDetails(details));
  const message: unknown = expect.stringContaining(words);
  expect(await sent).toMatchObject({ kind: 'failed', failure: { type, message, billed: 'unknown' } });
});

test('each setting changes the id of a call; without settings, the id is the same as before they existed', () => {
  const place = { workflowExecution: { workflowId: 'solve-1', runId: 'run-1' }, activityId: '1' };
  const idOf = (settings: Parameters<typeof aCard>[0]): string => callIdOf(place, aCall(aCard(settings)));
  const changes = [
    {},
    { topP: 0.8 },
    { topK: 20 },
    { presencePenalty: 1 },
    { thinking: 0 },
    { thinking: 2048 },
    { extraBody: { min_p: 0.1 } },
  ];
  const ids = changes.map(idOf);
  expect(ids[0]).toBe('82514e1a1c1ffe31b55571de016fc99f3edda4ecf1516f7c59a962366d3ef8ca');
  expect(new Set(ids).size).toBe(changes.length);
});
