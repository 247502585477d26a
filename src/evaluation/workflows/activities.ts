import { ActivityCancellationType, type ActivityInterfaceFor, proxyActivities } from '@temporalio/workflow';
import type { EvaluationActivities } from '../activities';

/** Activities that only read and write the store. Two minutes are long for them; half an hour is enough to free a disk. */
export function storeActivities<Activities = EvaluationActivities>(
  summary: string,
): ActivityInterfaceFor<Activities> {
  return proxyActivities<Activities>({
    startToCloseTimeout: '2m',
    scheduleToCloseTimeout: '30m',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    summary,
  });
}

/** The activity that judges answers. Heartbeats tell a lost worker from a slow comparison. */
export function gradingActivities(summary: string): ActivityInterfaceFor<EvaluationActivities> {
  return proxyActivities<EvaluationActivities>({
    startToCloseTimeout: '30m',
    scheduleToCloseTimeout: '2h',
    heartbeatTimeout: '30s',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    summary,
  });
}
