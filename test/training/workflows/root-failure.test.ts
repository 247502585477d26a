import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  RetryState,
} from '@temporalio/common';
import { encodeTimeoutType } from '@temporalio/common/lib/failure';
import { rootFailure } from '../../../src/training/workflows/nightly';

const PUBLISH = 'conductor.trainer.publish';
const activity = (cause: Error): Error =>
  new ActivityFailure('Activity task failed', PUBLISH, '1', RetryState.TIMEOUT, 'w', cause);
const child = (cause: Error): Error =>
  new ChildWorkflowFailure('default', { workflowId: 'w', runId: 'r' }, 'train', RetryState.TIMEOUT, cause);
/** Returns a timeout failure as the SDK reads it from a history. */
const timeout = (last?: Error): Error =>
  new DefaultFailureConverter().failureToError(
    {
      message: 'activity ScheduleToClose timeout',
      timeoutFailureInfo: { timeoutType: encodeTimeoutType('SCHEDULE_TO_CLOSE') ?? null },
      ...(last && { cause: new DefaultFailureConverter().errorToFailure(last, defaultPayloadConverter) }),
    },
    defaultPayloadConverter,
  );
const full = ApplicationFailure.create({
  type: 'Trainer.DiskFull',
  message: 'The disk took no more.',
  cause: new Error('No space left on device'),
});

test.each([
  ['a failure itself', full],
  ['of a child', child(activity(full))],
  ['that kept failing until the time was up', child(activity(timeout(full)))],
])('finds what failed: %s', (_, error) => {
  expect(rootFailure(error)).toEqual({ type: 'Trainer.DiskFull', message: 'The disk took no more.' });
});

test('names what timed out if nothing had failed', () => {
  const message = `${PUBLISH} was not done in time: activity ScheduleToClose timeout`;
  expect(rootFailure(child(activity(timeout())))).toEqual({ type: null, message });
});
