import { ActivityCancellationType, type ActivityInterfaceFor, proxyActivities } from '@temporalio/workflow';
import type { TrainerActivities, TrainingActivities } from '../contract';
import type { PolicySettings } from '../settings';

/**
 * The activities that only touch the store and reckon. A minute is long for them, and a full disk may be emptied; a
 * worker that is lost is not waited for longer than that.
 */
export function storeActivities(summary: string): ActivityInterfaceFor<TrainingActivities> {
  return proxyActivities<TrainingActivities>({
    startToCloseTimeout: '2m',
    scheduleToCloseTimeout: '30m',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    summary,
  });
}

/**
 * The activity that samples plans. One request may take as long as the policy's `timeout` says; a server that restarts is
 * waited for, as long as its `patience` says, and one that stays away ends the night.
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

/** Where the trainer listens, and how patiently it is waited for. */
export interface TrainerCallOptions {
  readonly taskQueue: string;
  /** What is left of the night. */
  readonly remainingMs: number;
  readonly heartbeatMs: number;
}

/**
 * The activities of the trainer, which is a worker of its own on a machine of its own. It may be restarted, replaced or
 * still starting: a lost one is noticed by its heartbeats, and every activity of it may be repeated.
 */
export function trainerActivities(
  summary: string,
  { taskQueue, remainingMs, heartbeatMs }: TrainerCallOptions,
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

/**
 * The activities of the trainer that a night can do without: what they leave undone the next night does. A trainer that
 * is away is not waited for longer than it takes to start one.
 */
export function dispensableActivities(
  summary: string,
  { taskQueue, heartbeatMs }: Omit<TrainerCallOptions, 'remainingMs'>,
): ActivityInterfaceFor<TrainerActivities> {
  return trainerActivities(summary, { taskQueue, heartbeatMs, remainingMs: 2 * 60_000 });
}
