import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { TrainInput } from '../../../src/training/contract';

/** The nights that a schedule starts, as the package has them. */
export { conductorTrainNightly } from '../../../src/training/workflows/nightly';

/** Activities of a night that a test may hold up, on the worker's side. */
export interface NightActivities {
  spendNight(night: TrainInput & { readonly priority: number | undefined }): Promise<void>;
}

const { spendNight } = proxyActivities<NightActivities>({
  startToCloseTimeout: '5m',
  retry: { maximumAttempts: 1 },
});

/** Stands in for a night's training, of which a schedule sees no more than this: it takes time, and ends well or not. */
export async function conductorTrain(night: TrainInput): Promise<void> {
  await spendNight({ ...night, priority: workflowInfo().priority?.priorityKey });
}
