import {
  ActivityCancellationType,
  type ActivityInterfaceFor,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import { storeActivities as activitiesOfStore } from '../../workflows/activities';
import { orFail } from '../../workflows/failures';
import type { TrainingActivities } from '../activities';
import type { CheckInputRequest } from '../activities/check-input';
import type { PolicySettings } from '../inputs';
import { CHECK_PLACES } from '../names';
import type { TrainerActivities } from '../trainer-contract';

/** Any client may have written the input. @throws ApplicationFailure of type `Solve.BadInput` or `Configuration.Invalid` */
export async function checkInput(request: CheckInputRequest): Promise<void> {
  const { [CHECK_PLACES]: check } = proxyLocalActivities<TrainingActivities>({
    startToCloseTimeout: '1m',
    scheduleToCloseTimeout: '10m',
    summary: 'check the input',
  });
  await orFail(() => check(request));
}

export const storeActivities = activitiesOfStore<TrainingActivities>;

/**
 * The activity that samples plans. One request may take the policy's `timeout`; a server that restarts is waited for, up
 * to its `patience`, and one that stays away ends the night.
 */
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

interface TrainerSettings {
  readonly trainer: { readonly taskQueue: string };
  readonly run: { readonly heartbeatMs: number };
}

/** The trainer's activities. It may be restarted or still starting: heartbeats show a lost one, and each may be repeated. */
export function trainerActivities(
  summary: string,
  { trainer: { taskQueue }, run: { heartbeatMs } }: TrainerSettings,
  remainingMs: number,
): ActivityInterfaceFor<TrainerActivities> {
  return proxyActivities<TrainerActivities>({
    taskQueue,
    scheduleToCloseTimeout: remainingMs,
    heartbeatTimeout: heartbeatMs,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '500ms', maximumInterval: '30s' },
    summary,
  });
}
