import { ActivityCancellationType, type ActivityInterfaceFor, proxyActivities } from '@temporalio/workflow';
import { configurationActivities, storeActivities as activitiesOfStore } from '../../workflows/activities';
import { orFail } from '../../workflows/failures';
import type { TrainingActivities } from '../activities';
import type { CheckInputRequest } from '../activities/check-input';
import type { PolicySettings } from '../inputs';
import { CHECK_PLACES } from '../names';
import type { TrainerActivities } from '../trainer-contract';

/** Any client may have written the input. @throws ApplicationFailure of type `Solve.BadInput` or `Configuration.Invalid` */
export async function checkInput(request: CheckInputRequest): Promise<void> {
  await orFail(configurationActivities<TrainingActivities>('check the input')[CHECK_PLACES](request));
}

export const storeActivities = activitiesOfStore<TrainingActivities>;

/** Samples plans. A server that restarts is waited for, up to its `patience`; one that stays away ends the night. */
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

/** The trainer's activities. It may be restarted or still starting: heartbeats show a lost one, and each may be repeated. */
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
