import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { TrainInput } from '../../../src/training/contract';

/** The package's own workflow for the nights that a schedule starts. */
export { conductorTrainNightly } from '../../../src/training/workflows/nightly';

/** Activity in which a test can hold a night. */
export interface NightActivities {
  spendNight(night: TrainInput & { readonly priority: number | undefined }): Promise<void>;
}

const { spendNight } = proxyActivities<NightActivities>({
  startToCloseTimeout: '5m',
  retry: { maximumAttempts: 1 },
});

/** Stands in for a night's training: a schedule sees only that it takes time, and then succeeds or fails. */
export async function conductorTrain(night: TrainInput): Promise<void> {
  await spendNight({ ...night, priority: workflowInfo().priority?.priorityKey });
}
