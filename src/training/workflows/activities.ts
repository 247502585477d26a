import { ActivityCancellationType, type ActivityInterfaceFor, proxyActivities } from '@temporalio/workflow';
import { configurationActivities, orFail, storeActivities } from '../../workflows/parts';
import type { TrainingActivities } from '../activities';
import type { CheckInputRequest } from '../activities/check-input';
import type { PolicySettings } from '../inputs';
import { CHECK_PLACES } from '../names';
import type { TrainerActivities } from '../trainer-contract';

/** Checks input, which any client may write. @throws ApplicationFailure `Solve.BadInput`, `Configuration.Invalid` */
export async function requireValidInput(request: CheckInputRequest): Promise<void> {
  await orFail(configurationActivities<TrainingActivities>('check the input')[CHECK_PLACES](request));
}

export const trainingStoreActivities = storeActivities<TrainingActivities>;

/** Returns the sampling activities. They wait for a restarting server up to its `patience`, then fail the night. */
export function samplingActivities(
  summary: string,
  { timeoutMs, patienceMs }: Pick<PolicySettings, 'timeoutMs' | 'patienceMs'>,
  heartbeatMs: number,
): ActivityInterfaceFor<TrainingActivities> {
  return proxyActivities<TrainingActivities>({
    startToCloseTimeout: timeoutMs,
    scheduleToCloseTimeout: Math.max(2 * timeoutMs, patienceMs),
    heartbeatTimeout: heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '500ms', maximumInterval: '10s' },
    summary,
  });
}

/** Returns the trainer's activities. It may be (re)starting: heartbeats detect its loss, and all can be retried. */
export function trainerActivities(
  summary: string,
  { trainer, run }: { trainer: { readonly taskQueue: string }; run: { readonly heartbeatMs: number } },
  remainingMs: number,
): ActivityInterfaceFor<TrainerActivities> {
  return proxyActivities<TrainerActivities>({
    taskQueue: trainer.taskQueue,
    scheduleToCloseTimeout: remainingMs,
    heartbeatTimeout: run.heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '500ms', maximumInterval: '30s' },
    summary,
  });
}
